// Builds the package for authors: the same commands from the same sources, without the server. It
// has no dependencies, because it bundles the code that it needs. The result is ready for `npm pack`. Usage: node
// scripts/build-author-package.ts [DIRECTORY]   (default: dist-author)
import { cpSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { rollUpTypeDeclarations } from './api-report.ts'
import {
  createAuthorPackageJson,
  createAuthorPackageReadme,
  type AppPackageJson,
} from './build/author-package.ts'
import { buildSingleFileCommand } from './build/single-file-command.ts'
import { buildSplitModules, projectRoot } from './build/split-modules.ts'
import { moduleExclusionPlugin } from './build/author-exclusions.ts'
import { collectLicenses } from './build/licenses.ts'
import { writeRulePages } from './build/write-rule-pages.ts'

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
  'src/catalogs/read-file-process.ts',
  'src/adapters/image/layer/layer-process.ts',
  'src/adapters/registry/unpack/unpack-process.ts',
]

rmSync(outputFolder, { recursive: true, force: true })
const distFolder = join(outputFolder, 'dist')
const { later, inputs } = await buildSingleFileCommand({
  entry: 'src/cli-author.ts',
  script: join(distFolder, 'cli.joined.js'),
  exclusions: moduleExclusionPlugin,
})
const moduleInputs = await buildSplitModules({
  entries: [...later, ...workerScripts, 'src/index.ts'],
  folder: distFolder,
  exclusions: moduleExclusionPlugin,
})
writeFileSync(join(outputFolder, 'THIRD-PARTY.txt'), collectLicenses([...inputs, ...moduleInputs]))
rollUpTypeDeclarations(join(distFolder, 'index.d.ts'), { isCheck: true })

const appPackageJson = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as AppPackageJson
writeFileSync(
  join(outputFolder, 'package.json'),
  `${JSON.stringify(createAuthorPackageJson(appPackageJson), undefined, 2)}\n`,
)
writeFileSync(join(outputFolder, 'README.md'), createAuthorPackageReadme(appPackageJson))
cpSync(join(projectRoot, 'LICENSE'), join(outputFolder, 'LICENSE'))
cpSync(join(projectRoot, 'bin'), join(outputFolder, 'bin'), { recursive: true })
await writeRulePages(distFolder)

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
