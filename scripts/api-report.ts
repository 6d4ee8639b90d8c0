// The types of the public API, src/index.ts: one declaration file for the package (`dist/index.d.ts`), and the report
// that shows API changes in review, etc/catalog-bot.api.md. The packages in `packages/` have one report each. Usage:
// npm run api [-- --check]. With --check, exits with 1 if a report is out of date.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { Extractor, ExtractorConfig } from '@microsoft/api-extractor'
import ts from 'typescript'
import {
  createImportResolver,
  readWorkspacePackages,
  updateGeneratedFiles,
  type WorkspacePackage,
} from './workspaces.ts'

const projectRoot = join(import.meta.dirname, '..')
const apiEntryFile = join(projectRoot, 'src/index.ts')
const workspacePackages = readWorkspacePackages(projectRoot)
const resolveImport = createImportResolver(workspacePackages)

/** Writes `file`, the rolled-up declarations, and compares or writes the report. Returns whether the report is up to date. */
export function rollUpTypeDeclarations(file: string, { isCheck }: { readonly isCheck: boolean }): boolean {
  // Outside node_modules, because API Extractor treats everything there as an external package.
  const folder = mkdtempSync(join(tmpdir(), 'api-'))
  try {
    emitDeclarations(apiEntryFile, folder)
    const config = ExtractorConfig.prepare({
      configObjectFullPath: undefined,
      packageJsonFullPath: join(projectRoot, 'package.json'),
      configObject: {
        projectFolder: folder,
        mainEntryPointFilePath: join(folder, 'src', 'index.d.ts'),
        compiler: { overrideTsconfig: { compilerOptions } },
        apiReport: {
          enabled: true,
          includeForgottenExports: true,
          reportFileName: 'catalog-bot',
          reportFolder: join(projectRoot, 'etc'),
          reportTempFolder: join(folder, 'report'),
        },
        docModel: { enabled: false },
        dtsRollup: { enabled: true, untrimmedFilePath: file },
        tsdocMetadata: { enabled: false },
        messages: {
          extractorMessageReporting: {
            default: { logLevel: 'warning' as never },
            // Every export is public, so release tags are not needed.
            'ae-missing-release-tag': { logLevel: 'none' as never },
            // Names are usually sufficient, and lint requires comments where they matter.
            'ae-undocumented': { logLevel: 'none' as never },
            // The report contains them anyway.
            'ae-forgotten-export': { logLevel: 'none' as never },
          },
          tsdocMessageReporting: { default: { logLevel: 'none' as never } },
        },
        newlineKind: 'lf',
      },
    })
    mkdirSync(join(folder, 'report'))
    mkdirSync(join(projectRoot, 'etc'), { recursive: true })
    const { apiReportChanged, errorCount, warningCount } = Extractor.invoke(config, {
      localBuild: !isCheck,
      messageCallback: (message) => {
        // The caller reports the result.
        if (message.messageId.startsWith('console-')) message.logLevel = 'none' as never
      },
    })
    if (errorCount + warningCount > 0 && !apiReportChanged)
      throw new Error('cannot create the public API report; see the errors above')
    return !apiReportChanged
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const compilerOptions = {
  target: 'es2024',
  lib: ['es2024'],
  module: 'nodenext',
  moduleResolution: 'nodenext',
  types: [],
  strict: true,
  allowImportingTsExtensions: true,
  noEmit: true,
}

/** Declarations of a module and of those that it takes types from: types are written out there, so each stands alone. */
function emitDeclarations(file: string, folder: string, visited = new Set<string>()): void {
  if (visited.has(file)) return
  visited.add(file)
  const { outputText, diagnostics = [] } = ts.transpileDeclaration(readFileSync(file, 'utf8'), {
    fileName: file,
    compilerOptions: { isolatedDeclarations: true, declaration: true, verbatimModuleSyntax: true },
    reportDiagnostics: true,
  })
  for (const { messageText } of diagnostics)
    throw new Error(`${relative(projectRoot, file)}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`)
  const target = join(folder, relative(projectRoot, file).replace(/\.ts$/, '.d.ts'))
  mkdirSync(dirname(target), { recursive: true })
  const imported: string[] = []
  // API Extractor would treat the name of a package as an external module, and so a name that ends in `.ts`.
  const text = outputText.replaceAll(
    /(?<=from )'(\.[^']+\.ts|@catalog-bot\/[^']+)'/g,
    (written, specifier: string) => {
      const source = resolveImport(relative(projectRoot, file), specifier)
      if (source === undefined) return written
      imported.push(join(projectRoot, source))
      const path = relative(dirname(file), join(projectRoot, source)).replace(/\.ts$/, '.js')
      return `'${path.startsWith('.') ? path : `./${path}`}'`
    },
  )
  writeFileSync(target, text)
  for (const source of imported) emitDeclarations(source, folder, visited)
}

/** The declarations of every module that a package exports, by file. Types that the sources do not write out are inferred. */
function emitPackageDeclarations(): ReadonlyMap<string, string> {
  const { options } = ts.convertCompilerOptionsFromJson(
    {
      ...compilerOptions,
      types: ['node'],
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      removeComments: true,
      skipLibCheck: true,
    },
    projectRoot,
  )
  const files = workspacePackages.flatMap(({ exports }) => [...exports.values()])
  const program = ts.createProgram(
    files.map((file) => join(projectRoot, file)),
    options,
  )
  const declarations = new Map<string, string>()
  program.emit(undefined, (_name, text, _mark, _onError, [source] = []) => {
    if (source) declarations.set(relative(projectRoot, source.fileName), text)
  })
  return declarations
}

/** Shows every change to the API of a package in a review. */
function renderPackageReport(
  { name, exports }: WorkspacePackage,
  declarations: ReadonlyMap<string, string>,
): string {
  const modules = [...exports]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([specifier, file]) => {
      const text = declarations.get(file)
      if (text === undefined) throw new Error(`${file} has no declarations`)
      return `## ${specifier}\n\n\`\`\`ts\n${text.trim()}\n\`\`\`\n`
    })
  return `# API of ${name}\n\nMade by \`npm run api\`. Do not edit.\n\n${modules.join('\n')}`
}

/** Returns the reports that are not up to date. Without `isCheck`, writes them. */
function updatePackageReports(isCheck: boolean): readonly string[] {
  const declarations = emitPackageDeclarations()
  const reports = workspacePackages.map(
    (one) => [`etc/${basename(one.folder)}.api.md`, renderPackageReport(one, declarations)] as const,
  )
  return updateGeneratedFiles(projectRoot, reports, isCheck)
}

if (import.meta.main) {
  const isCheck = process.argv.includes('--check')
  const scratch = mkdtempSync(join(tmpdir(), 'api-'))
  const isUpToDate = rollUpTypeDeclarations(join(scratch, 'index.d.ts'), { isCheck })
  rmSync(scratch, { recursive: true, force: true })
  const outdated = [...(isUpToDate ? [] : ['etc/catalog-bot.api.md']), ...updatePackageReports(isCheck)]
  if (outdated.length > 0 && isCheck) {
    console.error(`update ${outdated.join(', ')}: if the change to the API is intentional, run npm run api`)
    process.exit(1)
  }
}
