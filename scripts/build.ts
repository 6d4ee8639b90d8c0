// Builds `dist/`, what the App's package runs: every source file as JavaScript at the same place, over that the command line and
// `validate` as one script, and the sandbox as another, for the demo. The package for authors: scripts/build-author-package.ts.
// usage: node scripts/build.ts [DIRECTORY]   (default: dist)
import { rmSync } from 'node:fs'
import { join, relative, resolve, sep } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { rollUpTypes } from './api-report.ts'
import { joinCommand } from './build/join-command.ts'
import { transpileSources } from './build/transpile-sources.ts'

const root = join(import.meta.dirname, '..')
const [folder = 'dist', ...others] = process.argv.slice(2)
if (folder.startsWith('-') || others.length > 0) {
  console.error('usage: node scripts/build.ts [DIRECTORY]   (default: dist)')
  process.exit(2)
}
const dist = resolve(root, folder)

rmSync(dist, { recursive: true, force: true })
transpileSources(dist)
rollUpTypes(join(dist, 'index.d.ts'), { isCheck: true })

/** The sources are in `dist/` as files of their own, some of which start others that lie beside them. */
const leaveSources: Plugin = {
  name: 'leave-sources',
  setup(resolving) {
    resolving.onResolve({ filter: /^\.{1,2}\// }, ({ path, resolveDir }) => {
      const file = relative(join(root, 'src'), resolve(resolveDir, path))
      if (file.startsWith('..')) return undefined
      return { path: `../${file.split(sep).join('/').replace(/\.ts$/, '.js')}`, external: true }
    })
  },
}

// The demo's world is one script beside the rest. It lies as deep as its source does, for it asks where it lies.
await build({
  entryPoints: [join(root, 'sandbox/demo/run-demo.ts')],
  outfile: join(dist, 'demo/run-demo.js'),
  plugins: [leaveSources],
  allowOverwrite: true,
  bundle: true,
  format: 'esm',
  packages: 'external',
  platform: 'node',
  target: 'node22',
  logLevel: 'warning',
})

await joinCommand({
  sources: dist,
  entry: 'cli.js',
  script: join(dist, 'cli.joined.js'),
  nameOf: (path) => path,
})
