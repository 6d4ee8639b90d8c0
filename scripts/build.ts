// Builds `dist/`, what the App's package runs: every source file as JavaScript at the same place, over that the command line and
// `validate` as one script, and the sandbox as another, for the demo. The package for authors: scripts/build-author-package.ts.
// usage: node scripts/build.ts [DIRECTORY]   (default: dist)
import { rmSync } from 'node:fs'
import { join, relative, resolve, sep } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { rollUpTypeDeclarations } from './api-report.ts'
import { buildSingleFileCommand } from './build/join-command.ts'
import { transpileSources } from './build/transpile-sources.ts'

const projectRoot = join(import.meta.dirname, '..')
const [folder = 'dist', ...others] = process.argv.slice(2)
if (folder.startsWith('-') || others.length > 0) {
  console.error('usage: node scripts/build.ts [DIRECTORY]   (default: dist)')
  process.exit(2)
}
const distFolder = resolve(projectRoot, folder)

rmSync(distFolder, { recursive: true, force: true })
transpileSources(distFolder)
rollUpTypeDeclarations(join(distFolder, 'index.d.ts'), { isCheck: true })

/** The sources are in `dist/` as files of their own, some of which start others that lie beside them. */
const externalSourcesPlugin: Plugin = {
  name: 'leave-sources',
  setup(resolving) {
    resolving.onResolve({ filter: /^\.{1,2}\// }, ({ path, resolveDir }) => {
      const file = relative(join(projectRoot, 'src'), resolve(resolveDir, path))
      if (file.startsWith('..')) return undefined
      return { path: `../${file.split(sep).join('/').replace(/\.ts$/, '.js')}`, external: true }
    })
  },
}

// The demo's world is one script beside the rest. It lies as deep as its source does, for it asks where it lies.
await build({
  entryPoints: [join(projectRoot, 'sandbox/demo/run-demo.ts')],
  outfile: join(distFolder, 'demo/run-demo.js'),
  plugins: [externalSourcesPlugin],
  allowOverwrite: true,
  bundle: true,
  format: 'esm',
  packages: 'external',
  platform: 'node',
  target: 'node22',
  logLevel: 'warning',
})

await buildSingleFileCommand({
  sources: distFolder,
  entry: 'cli.js',
  script: join(distFolder, 'cli.joined.js'),
  nameOf: (path) => path,
})
