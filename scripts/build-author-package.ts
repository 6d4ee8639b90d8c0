// Builds the package for authors: the same commands from the same sources, without the server. It
// has no dependencies, because it bundles the code that it needs. The result is ready for `npm pack`. Usage: node
// scripts/build-author-package.ts [DIRECTORY]   (default: dist-author)
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { build } from 'esbuild'
import { rollUpTypeDeclarations } from './api-report.ts'
import {
  createAuthorPackageJson,
  createAuthorPackageReadme,
  type AppPackageJson,
} from './build/author-package.ts'
import { buildSingleFileCommand, createPackageResolutionPlugin } from './build/single-file-command.ts'
import { createModuleExclusionPlugin } from './build/author-exclusions.ts'
import { collectLicenses } from './build/licenses.ts'
import { writeRulePages } from './build/write-rule-pages.ts'
import { transpileSources } from './build/transpile-sources.ts'

const projectRoot = join(import.meta.dirname, '..')
const [named = 'dist-author', ...others] = process.argv.slice(2)
if (named.startsWith('-') || others.length > 0) {
  console.error('usage: node scripts/build-author-package.ts [DIRECTORY]   (default: dist-author)')
  process.exit(2)
}
const outputFolder = resolve(projectRoot, named)

/** Users download the package for a single command. */
const maxInstalledBytes = 5_000_000
const diskBlockBytes = 4096

/** Separate processes. The script next to them starts them by name. */
const workerScripts = [
  'catalogs/read-file-process.js',
  'adapters/image/layer/layer-process.js',
  'adapters/registry/unpack/unpack-process.js',
]

rmSync(outputFolder, { recursive: true, force: true })
const cliOutputFolder = join(outputFolder, 'dist', 'cli')
mkdirSync(cliOutputFolder, { recursive: true })
const transpiledSourcesFolder = realpathSync(mkdtempSync(join(tmpdir(), 'author-')))
try {
  transpileSources(transpiledSourcesFolder)
  const { later, inputs } = await buildSingleFileCommand({
    sources: transpiledSourcesFolder,
    entry: 'cli-author.js',
    script: join(outputFolder, 'dist', 'cli.joined.js'),
    nameOf: (path) => `cli/${flattenSourcePath(path)}`,
    leaveOut: createModuleExclusionPlugin(transpiledSourcesFolder),
  })
  // All files are in one folder, at the same depth as the commands in the sources, because split files can use their
  // own location.
  const entries = [...later, ...workerScripts, 'index.js']
  const { metafile } = await build({
    entryPoints: entries.map((path) => ({
      in: join(transpiledSourcesFolder, path),
      out: flattenSourcePath(path).replace(/\.js$/, ''),
    })),
    outdir: cliOutputFolder,
    chunkNames: 'part-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
    },
    platform: 'node',
    target: 'node22',
    // Names are shortened, too: they are a third of the size, and users download the package for a single command.
    minify: true,
    legalComments: 'none',
    metafile: true,
    plugins: [
      createModuleExclusionPlugin(transpiledSourcesFolder),
      createPackageResolutionPlugin(transpiledSourcesFolder),
    ],
  })
  const all = [...inputs, ...Object.keys(metafile.inputs).map((input) => resolve(input))]
  writeFileSync(join(outputFolder, 'THIRD-PARTY.txt'), collectLicenses(all))
} finally {
  rmSync(transpiledSourcesFolder, { recursive: true, force: true })
}
rollUpTypeDeclarations(join(outputFolder, 'dist', 'index.d.ts'), { isCheck: true })

const appPackageJson = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as AppPackageJson
writeFileSync(
  join(outputFolder, 'package.json'),
  `${JSON.stringify(createAuthorPackageJson(appPackageJson), undefined, 2)}\n`,
)
writeFileSync(join(outputFolder, 'README.md'), createAuthorPackageReadme(appPackageJson))
cpSync(join(projectRoot, 'LICENSE'), join(outputFolder, 'LICENSE'))
cpSync(join(projectRoot, 'bin'), join(outputFolder, 'bin'), { recursive: true })
await writeRulePages(join(outputFolder, 'dist'))

const installedPackageBytes = measureInstalledPackageBytes(outputFolder)
if (installedPackageBytes > maxInstalledBytes)
  throw new Error(
    `the installed package is ${installedPackageBytes} bytes, but the limit is ${maxInstalledBytes} bytes`,
  )

/** The size on disk, in whole blocks. */
function measureInstalledPackageBytes(path: string): number {
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .map((name) => statSync(join(path, name)).size)
    .reduce((sum, bytes) => sum + Math.ceil(bytes / diskBlockBytes) * diskBlockBytes, 0)
}

/** Worker scripts keep their names, because they are started by name. Other files get unique names. */
function flattenSourcePath(path: string): string {
  return workerScripts.includes(path) || path === 'index.js' ? basename(path) : path.replaceAll('/', '-')
}
