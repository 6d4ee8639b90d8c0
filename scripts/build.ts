// Builds `dist/`, the contents of the App's package: every source file as JavaScript at the same path, with the
// command line and `validate` bundled into one script, common commands into another folder, and the sandbox for the demo. For the
// package for authors, see scripts/build-author-package.ts. Usage: node scripts/build.ts [DIRECTORY]   (default:
// dist)
import { cpSync, readFileSync, rmSync } from 'node:fs'
import { join, relative, resolve, sep } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { rollUpTypeDeclarations } from './api-report.ts'
import { buildSingleFileCommand } from './build/single-file-command.ts'
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

/** The commands whose modules take longer to resolve one by one than they run. */
const bundledCommands = ['check', 'install', 'graph', 'list', 'action'].map((name) => `cli/${name}.js`)
/** Modules that may use their own location, because it has the same depth or neighbors in the folder of the commands. */
const modulesWithOwnPath = [
  'cli/output.js',
  'adapters/git/launcher.js',
  'adapters/registry/unpack/unpack-process-pool.js',
  'catalogs/reader-pool.js',
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

// The demo environment is one script. Its depth matches its source file, because it uses its own location.
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
  nameOf: (path) => (bundledCommands.includes(path) ? path.replace(/^cli/, 'commands') : path),
})

// The scripts of their processes are next to them, because the processes are started by a path relative to the module.
const { metafile } = await build({
  entryPoints: [
    ...bundledCommands,
    'catalogs/read-file-process.js',
    'adapters/git/launcher-process.js',
    'adapters/registry/unpack/unpack-process.js',
  ].map((path) => join(distFolder, path)),
  entryNames: '[name]',
  chunkNames: 'part-[hash]',
  outdir: join(distFolder, 'commands'),
  bundle: true,
  splitting: true,
  format: 'esm',
  packages: 'external',
  platform: 'node',
  target: 'node22',
  metafile: true,
  logLevel: 'warning',
})
for (const path of Object.keys(metafile.inputs).map((input) => relative(distFolder, resolve(input))))
  if (
    /\bimport\.meta\b/.test(readFileSync(join(distFolder, path), 'utf8')) &&
    !modulesWithOwnPath.includes(path)
  )
    throw new Error(`${path} uses its own location, which would be the location of the commands`)

await writeRulePages(distFolder)
