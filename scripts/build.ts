// Builds `dist/`, the contents of the App's package: every source file as JavaScript at the same path, with the
// command line and common commands bundled into two scripts, and the sandbox for the demo. For the package for authors, see
// scripts/build-author-package.ts. Usage: node scripts/build.ts [DIRECTORY]   (default: dist)
import { cpSync, rmSync } from 'node:fs'
import { join, relative, resolve, sep } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { rollUpTypeDeclarations } from './api-report.ts'
import { buildCommonCommands, buildSingleFileCommand } from './build/single-file-command.ts'
import { toOutputPath, transpileSources } from './build/transpile-sources.ts'
import { writeRulePages } from './build/write-rule-pages.ts'
import { createImportResolver, readWorkspacePackages } from './workspaces.ts'

const projectRoot = join(import.meta.dirname, '..')
const [folder = 'dist', ...others] = process.argv.slice(2)
if (folder.startsWith('-') || others.length > 0) {
  console.error('usage: node scripts/build.ts [DIRECTORY]   (default: dist)')
  process.exit(2)
}
const distFolder = resolve(projectRoot, folder)

/** The commands, and two parts of `validate`, whose modules take longer to resolve one by one than they run. */
const commonCommandFiles = [
  ...['check', 'install', 'graph', 'list', 'action', 'local-catalogs'].map((name) => `cli/${name}.js`),
  'config/config-file.js',
]

rmSync(distFolder, { recursive: true, force: true })
transpileSources(distFolder)
cpSync(
  join(projectRoot, 'node_modules/@electric-sql/pglite-prepopulatedfs/dist/prepopulatedfs.tgz'),
  join(distFolder, 'adapters/store/postgres.tar.gz'),
)
rollUpTypeDeclarations(join(distFolder, 'index.d.ts'), { isCheck: true })

const resolveImport = createImportResolver(readWorkspacePackages(projectRoot))

/** The sources are separate files in `dist/`, because some of them start neighboring files. */
const externalSourcesPlugin: Plugin = {
  name: 'leave-sources',
  setup(resolving) {
    resolving.onResolve({ filter: /^(?:\.{1,2}|@catalog-bot)\// }, ({ path, resolveDir }) => {
      const importer = join(relative(projectRoot, resolveDir), 'importer.ts')
      const file = resolveImport(importer, path)?.split(sep).join('/')
      if (file === undefined || !/^(?:src|packages)\//.test(file)) return undefined
      return { path: `../${toOutputPath(file)}`, external: true }
    })
  },
}

const esmOptions = {
  bundle: true,
  format: 'esm',
  packages: 'external',
  platform: 'node',
  target: 'node22',
} as const

// The demo environment is one script. Its depth matches its source file, because it uses its own location.
await build({
  entryPoints: [join(projectRoot, 'sandbox/demo/run-demo.ts')],
  outfile: join(distFolder, 'demo/run-demo.js'),
  plugins: [externalSourcesPlugin],
  ...esmOptions,
})

await buildSingleFileCommand({
  sources: distFolder,
  entry: 'cli.js',
  script: join(distFolder, 'cli.joined.js'),
  nameOf: (path) => (commonCommandFiles.includes(path) ? `commands.joined.js?${path}` : path),
})
await buildCommonCommands(commonCommandFiles, distFolder, join(distFolder, 'commands.joined.js'))

// The processes that the scripts start are next to the command line, because the scripts have that location.
await build({
  entryPoints: ['catalogs/read-file', 'adapters/registry/unpack/unpack'].map((path) =>
    join(distFolder, `${path}-process.js`),
  ),
  entryNames: '[name]',
  outdir: join(distFolder, 'cli'),
  ...esmOptions,
  splitting: true,
})

await writeRulePages(distFolder)
