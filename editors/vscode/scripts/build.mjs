// Checks and packages the extension: types, tests, two bundles, dist/acp-bridge.vsix. `--package` skips the checks.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
process.chdir(root);

function run(...command) {
  const done = spawnSync(process.execPath, command, { stdio: 'inherit' });
  if (done.status !== 0) {
    process.exit(done.status ?? 1);
  }
}

if (!process.argv.includes('--package')) {
  run('node_modules/typescript/bin/tsc', '-p', '.');
  run('--disable-warning=MODULE_TYPELESS_PACKAGE_JSON', '--test', '--test-reporter=spec', 'test/*.test.ts');
}
rmSync('dist', { recursive: true, force: true });
mkdirSync('dist');
const { build } = await import('esbuild');
const common = { bundle: true, minify: true, legalComments: 'external', logLevel: 'warning' };
await build({
  ...common,
  entryPoints: ['src/extension.ts'],
  outfile: 'dist/extension.js',
  external: ['vscode'],
  format: 'cjs',
  platform: 'node',
  target: 'node20',
});
await build({
  ...common,
  entryPoints: ['src/webview/chat.ts', 'src/webview/chat.css'],
  outdir: 'dist',
  format: 'iife',
  platform: 'browser',
  target: 'es2022',
});
copyFileSync('../../LICENSE', 'LICENSE');
const packing = ['package', '--no-dependencies', '--allow-missing-repository', '-o', 'dist/acp-bridge.vsix'];
const packed = spawnSync(process.execPath, ['node_modules/@vscode/vsce/vsce', ...packing], { encoding: 'utf8' });
rmSync('LICENSE');
console.log(packed.status === 0 ? packed.stdout.trim().split('\n').at(-1) : packed.stdout + packed.stderr);
process.exit(packed.status ?? 1);
