// Builds `dist/`, the contents of the App's package: scripts of the command line and of common commands, the modules of the
// other commands and of all processes, and the sandbox for the demo. For the package for authors, see
// scripts/build-author-package.ts. Usage: node scripts/build.ts [--only-code] [DIRECTORY]   (default: dist)
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { rollUpTypeDeclarations } from './api-report.ts'
import { collectLicenses } from './build/licenses.ts'
import { buildCommonCommands, buildSingleFileCommand } from './build/single-file-command.ts'
import { buildSplitModules, projectRoot } from './build/split-modules.ts'
import { writeRulePages } from './build/write-rule-pages.ts'
import { listFiles } from './workspaces.ts'

const isOnlyCode = process.argv.includes('--only-code')
const [folder = 'dist', ...others] = process.argv.slice(2).filter((word) => word !== '--only-code')
if (folder.startsWith('-') || others.length > 0) {
  console.error('usage: node scripts/build.ts [--only-code] [DIRECTORY]   (default: dist)')
  process.exit(2)
}
const distFolder = resolve(projectRoot, folder)

/** The commands, and two parts of `validate`, whose modules take longer to load one by one than they run. */
const commonCommandFiles = [
  ...['check', 'install', 'graph', 'list', 'action', 'local-catalogs'].map((name) => `src/cli/${name}.ts`),
  'src/config/config-file.ts',
]

rmSync(distFolder, { recursive: true, force: true })
const command = await buildSingleFileCommand({
  entry: 'src/cli.ts',
  script: join(distFolder, 'cli.joined.js'),
  commonFiles: commonCommandFiles,
})
const common = await buildCommonCommands(commonCommandFiles, join(distFolder, 'commands.joined.js'))
const later = [...command.later, ...common.later].filter((file) => !commonCommandFiles.includes(file))
const moduleInputs = await buildSplitModules({
  entries: [...new Set([...later, ...listWorkerScripts(), 'src/index.ts', 'sandbox/demo/run-demo.ts'])],
  folder: distFolder,
})
writeFileSync(
  join(distFolder, 'THIRD-PARTY.txt'),
  collectLicenses([...command.inputs, ...common.inputs, ...moduleInputs]),
)
cpSync(
  join(projectRoot, 'node_modules/@electric-sql/pglite-prepopulatedfs/dist/prepopulatedfs.tgz'),
  join(distFolder, 'cli/postgres.tar.gz'),
)
if (!isOnlyCode) {
  rollUpTypeDeclarations(join(distFolder, 'index.d.ts'), { isCheck: true })
  await writeRulePages(distFolder)
}

/** The processes that the sources start by name. */
function listWorkerScripts(): readonly string[] {
  return listFiles(projectRoot, 'src', /(?<!\.test)\.ts$/).flatMap((file) =>
    [...readFileSync(join(projectRoot, file), 'utf8').matchAll(/findWorkerScript\('([\w-]+)'/g)].map(
      ([, name]) => join(dirname(file), `${name}.ts`),
    ),
  )
}
