"""`AgentServer`: one agent the user can start, whichever file described it.

Field names are those of Kandev's agents.json; acp.json and agent_servers entries fill the same record.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Source = Literal["flag", "editor", "project", "user", "shipped"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True)


class Mount(_Part):
    source: str
    target: str
    read_only: bool = False


class ResourceLimits(_Part):
    memory_mb: int | None = None
    cpu_cores: float | None = None
    timeout_seconds: int | None = None


class SessionConfig(_Part):
    native_session_resume: bool = False
    resume_flag: str = ""
    can_recover: bool = True
    session_dir_template: str = ""
    session_dir_target: str = ""


class PermissionConfig(_Part):
    permission_flag: str = ""
    tools_requiring_permission: list[str] = Field(default_factory=list)


class PermissionSetting(_Part):
    supported: bool = False
    default: bool = False
    label: str = ""
    description: str = ""
    apply_method: Literal["cli_flag", "acp", "stdio", "env", ""] = ""
    cli_flag: str = ""
    cli_flag_value: str = ""


class PlatformPaths(_Part):
    linux: list[str] = Field(default_factory=list)
    windows: list[str] = Field(default_factory=list)
    macos: list[str] = Field(default_factory=list)


class Discovery(_Part):
    supports_mcp: bool = False
    mcp_config_path: PlatformPaths = Field(default_factory=PlatformPaths)
    installation_path: PlatformPaths = Field(default_factory=PlatformPaths)
    discovery_capabilities: dict[str, bool] = Field(default_factory=dict)


class Model(_Part):
    id: str
    name: str = ""
    description: str = ""
    provider: str = ""
    context_window: int | None = None
    is_default: bool = False


class ModelConfig(_Part):
    default_model: str = ""
    available_models: list[Model] = Field(default_factory=list)
    dynamic_models_cmd: list[str] | str = ""


class AgentServer(_Part):
    """One agent. `source`/`file` say where the entry stands, for messages to the user."""

    id: str
    name: str = ""
    display_name: str = ""
    description: str = ""
    enabled: bool = True
    image: str = ""
    tag: str = ""
    cmd: list[str] = Field(default_factory=list)
    entrypoint: list[str] = Field(default_factory=list)
    working_dir: str = ""
    required_env: list[str] = Field(default_factory=list)
    env: dict[str, str] = Field(default_factory=dict)
    mounts: list[Mount] = Field(default_factory=list)
    resource_limits: ResourceLimits = Field(default_factory=ResourceLimits)
    capabilities: list[str] = Field(default_factory=list)
    protocol: str = "acp"
    protocol_config: dict[str, Any] = Field(default_factory=dict)
    model_flag: str = ""
    workspace_flag: str = ""
    session_config: SessionConfig = Field(default_factory=SessionConfig)
    permission_config: PermissionConfig = Field(default_factory=PermissionConfig)
    permission_settings: dict[str, PermissionSetting] = Field(default_factory=dict)
    discovery: Discovery = Field(default_factory=Discovery)
    llm: ModelConfig = Field(default_factory=ModelConfig, alias="model_config")
    default_mode: str = ""
    default_model: str = ""
    default_config_options: dict[str, str | bool] = Field(default_factory=dict)
    install_hint: str = ""
    source: Source = "shipped"
    file: str = ""

    model_config = ConfigDict(extra="allow", frozen=True, populate_by_name=True)

    @property
    def label(self) -> str:
        """What a person reads: display_name, else name, else id (SEED-RULES 3)."""
        return self.display_name or self.name or self.id
