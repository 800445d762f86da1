"""An editor on stdio: our LSP transport, the standard surfaces, the acp/* methods, thread files."""
