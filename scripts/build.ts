// Builds `dist/`, what the published package runs: every source file as JavaScript at the same place, and over that the
// command line and `validate` joined into a few files, so that they start without looking for sixty.
// usage: node scripts/build.ts [DIRECTORY]   (default: dist)
import { execFileSync } from 'node:child_process'
import { copyFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build, type Plugin } from 'esbuild'

const root = join(import.meta.dirname, '..')
const dist = resolve(root, process.argv[2] ?? 'dist')

/** What `validate` runs, and what it loads only when it has to. */
const joined = [
  'cli.js',
  'cli/validate.js',
  'files/facts-cache.js',
  'checks/validation/validate-fully.js',
  'findings/render-text.js',
  'findings/render-sarif.js',
  'checks/all-rules.js',
].map((file) => join(dist, file))

rmSync(dist, { recursive: true, force: true })
execFileSync(
  process.execPath,
  ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--outDir', dist],
  { cwd: root, stdio: 'inherit' },
)
copyFileSync(join(root, 'src/sandbox/github-openapi.json'), join(dist, 'sandbox/github-openapi.json'))

/**
 * What an entry loads only when it has to stays the file that it is; so do packages, except the one that every start
 * needs.
 */
const leaveOthers: Plugin = {
  name: 'leave-others',
  setup(resolving) {
    resolving.onResolve({ filter: /.*/ }, ({ importer, kind, path, resolveDir }) => {
      if (kind === 'entry-point') return undefined
      if (!path.startsWith('.') && !path.startsWith('/'))
        return path === 'commander' || importer.includes('node_modules')
          ? undefined
          : { path, external: true }
      const file = resolve(resolveDir, path)
      if (kind !== 'dynamic-import' || joined.includes(file)) return undefined
      if (!joined.includes(importer))
        throw new Error(`${importer} loads ${path} later: join it, or load it at once`)
      return { path, external: true }
    })
  },
}

await build({
  entryPoints: joined,
  outdir: dist,
  outbase: dist,
  allowOverwrite: true,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node22',
  chunkNames: 'joined/[hash]',
  plugins: [leaveOthers],
  logLevel: 'warning',
})
