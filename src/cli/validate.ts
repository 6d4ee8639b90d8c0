// `validate`: validates directories of file-based catalogs.
import { readPackageVersion } from '../adapters/package-metadata.ts'
import { createReadStream, readFileSync, existsSync, lstatSync, realpathSync, statSync } from 'node:fs'
import { join, relative, resolve, sep, dirname } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { parseCatalogFile } from '@catalog-bot/fbc/load/parse-catalog-file'
import { defaultOpmRuleSet, findOpmRuleSet, type OpmRuleSet } from '@catalog-bot/fbc/model/rule-set'
import { addFindingEndPositions } from '@catalog-bot/fbc/positions/finding-ends'
import { validateCatalog, type ValidationProfile } from '@catalog-bot/fbc/model/validate-catalog'
import {
  getOmittedFindingCount,
  selectMostSevereFindings,
  limitFindingsPerRule,
} from '@catalog-bot/findings/finding-list'
import { compareFindings, type Finding, type Location } from '@catalog-bot/findings/finding'
import { escapeNonPrintableCharacters } from '@catalog-bot/findings/printable'
import { renderJson, type CatalogDirectoryReport } from '@catalog-bot/findings/render-findings'
import {
  setExitCode,
  printToStdout,
  printToStderr,
  supportsColor,
  getRulesBaseUrl,
  withProgress,
} from './output.ts'
import { listCatalogDirectoryFiles, readCatalogDirectory } from '../catalogs/catalog-directory.ts'
import { setFlagsFromString } from 'node:v8'
import type { RuleSettings } from '../checks/validation/rule-settings.ts'
import { configPath } from '../config/config-path.ts'

interface LocalConfig {
  readonly settings: RuleSettings
  /** Allowed image registries. An empty list allows all. */
  readonly registries: readonly string[]
  /** Path of the directory in its repository, because the settings refer to files by such paths. */
  readonly root: string
}

/** In microseconds of processor time, because a run on a busy machine is not a long run. */
const minUserTimeForTurbofan = 500_000
/** Nearly all public catalog files are smaller. */
const minFileBytesForTurbofan = 4 * 1024 * 1024

/** Per rule in text output. Errors are always shown. */
const maxPrintedFindingsPerRule = 10
/** Per directory. GitHub code scanning shows this many results per run. */
const maxReportedFindingsPerDirectory = 5000

interface ValidateCommandOptions {
  readonly profile: ValidationProfile
  readonly output: 'text' | 'json' | 'sarif'
  readonly opm: string
  readonly cache: boolean
  readonly all?: boolean
  /** A file with rule settings, or false for none. Default: the file in the repository. */
  readonly config?: string | false
}

/** Without directories, validates every catalog of the current repository. */
export async function runValidate(named: readonly string[], options: ValidateCommandOptions): Promise<void> {
  const ruleSet =
    defaultOpmRuleSet.id === `opm-${options.opm}` ? defaultOpmRuleSet : findOpmRuleSet(options.opm)
  if (ruleSet === undefined)
    throw new Error(`opm "${options.opm}" is not supported: use v1.28.0 or later, such as v1.73.0 or v1.73`)
  const directories =
    named.length > 0
      ? named
      : await (await import('./local-catalogs.ts')).listLocalCatalogDirectories(options.config)
  const all: Finding[] = []
  let failed = 0
  let absent = 0
  const validate = async (directory: string) => {
    const report = await validateCatalogDirectory(directory, ruleSet, options)
    if (!report.passed) failed++
    if (report.isAbsent === true) absent++
    if (options.output === 'sarif')
      for (const found of report.findings)
        all.push(makePathsRelativeToCwd(addFallbackLocationToFinding(found, report.findings), directory))
    if (options.output === 'json') printToStdout(renderJson(report))
    else if (options.output === 'text') await printTextReport(report, options.all === true)
    else if (report.leftOut !== undefined)
      printToStderr(`${directory}: ${report.leftOut} less important findings are not shown`)
  }
  // While the code was loaded, the space for new objects grew to 2 MB. More would take more memory.
  setFlagsOfShortRun('--semi-space-growth-factor=1')
  await withProgress('Validating', async (report) => {
    for (const [index, directory] of directories.entries()) {
      report(`Validating catalog ${index + 1} of ${directories.length}: ${directory}`)
      await validate(directory)
    }
  })
  if (options.output === 'sarif')
    printToStdout(
      (await import('@catalog-bot/findings/render-sarif')).renderSarif(all, await loadSarifOptions()),
    )
  setExitCode(absent > 0 ? 2 : failed > 0 ? 1 : 0)
}

/**
 * Validates directories with all rules. Each finding has a location relative to the current directory, for SARIF and
 * annotations.
 */
export async function validateCatalogDirectories(
  directories: readonly string[],
): Promise<{ readonly passed: boolean; readonly findings: readonly Finding[] }> {
  const options: ValidateCommandOptions = { profile: 'full', output: 'sarif', opm: '', cache: false }
  const reports = []
  for (const directory of directories)
    reports.push({ directory, report: await validateCatalogDirectory(directory, defaultOpmRuleSet, options) })
  return {
    passed: reports.every(({ report }) => report.passed),
    findings: reports.flatMap(({ directory, report: { findings } }) =>
      findings.map((found) =>
        makePathsRelativeToCwd(addFallbackLocationToFinding(found, findings), directory),
      ),
    ),
  }
}

/**
 * Adds a location to a finding about the whole catalog, because code scanning rejects a run in which any result has none.
 * Uses the location of another finding of the same rule, of any other finding, or the directory.
 */
export function addFallbackLocationToFinding(
  found: Finding,
  all: readonly Finding[],
): Finding & { at: Location } {
  const alike = () => all.find((one) => one.rule === found.rule && one.at) ?? all.find((one) => one.at)
  return { ...found, at: found.at ?? alike()?.at ?? { file: '', line: 1, column: 1 } }
}

/** Makes paths relative to the current directory, because several directories may have files of one name. */
function makePathsRelativeToCwd(found: Finding & { at: Location }, directory: string): Finding {
  const relocate = (at: Location): Location => {
    const path = relative('', join(directory, at.file)) || '.'
    return { ...at, file: path.startsWith('..') ? resolve(directory, at.file) : path.split(sep).join('/') }
  }
  return {
    ...found,
    at: relocate(found.at),
    ...(found.related && { related: found.related.map((one) => ({ ...one, at: relocate(one.at) })) }),
  }
}

/** Reports an unreadable directory, so that the others are still checked. */
async function validateCatalogDirectory(
  dir: string,
  ruleSet: OpmRuleSet,
  { profile, output, cache: isCached, config }: ValidateCommandOptions,
): Promise<CatalogDirectoryReport & { readonly isAbsent?: true }> {
  const listing = listCatalogDirectoryFiles(dir)
  const settings =
    listing.kind !== 'files' || profile === 'opm' || config === false
      ? {}
      : await loadLocalConfig(dir, config)
  const cache = isCached ? await import('../catalogs/parsed-file-cache.ts') : undefined
  const build = findBuild()
  const inputs = [resolve(dir), profile, ruleSet.id, output === 'text', settings]
  const verdicts =
    listing.kind === 'files' && build !== undefined
      ? cache?.openVerdictCache<CatalogDirectoryReport>(listing.files, { build, inputs })
      : undefined
  if (verdicts?.known) return { ...verdicts.known, dir }
  const facts = cache?.createParsedCatalogFileCache()
  const parse = (bytes: Uint8Array) => {
    enableTurbofanIfNeeded(bytes.length)
    // Without a cache, reads only the parts of a file that the profile needs.
    return facts?.factsOf(bytes) ?? parseCatalogFile(bytes, { forVerdict: profile === 'opm' })
  }
  if (profile === 'opm') setFlagsOfShortRun('--invocation-count-for-maglev=2000')
  const read = readCatalogDirectory(dir, parse, verdicts ? { kind: 'files', files: verdicts.files } : listing)
  if (read.kind === 'not-a-directory') {
    printToStderr(`Error: ${read.message}`)
    return { dir, passed: false, message: read.message, findings: [], isAbsent: true }
  }
  if (read.kind === 'unreadable')
    return { dir, passed: false, message: read.message, findings: read.findings }

  const { catalog } = read
  // opm's rules take less time than compiling them.
  if (profile === 'opm') setFlagsOfShortRun('--invocation-count-for-maglev=1000000')
  const verdict =
    profile === 'opm'
      ? validateCatalog(catalog, { ruleSet, profile })
      : (await import('../checks/validation/validate-fully.ts')).validateCatalogWithAllRules(
          { ...catalog, findings: [...catalog.findings, ...read.linked] },
          { ruleSet, ...settings },
        )
  const all = [...verdict.findings, ...read.unreadable].sort(compareFindings)
  const { findings } = selectMostSevereFindings(all, maxReportedFindingsPerDirectory)
  const leftOut =
    countFindingsIncludingOmitted(all) -
    findings.filter((found) => getOmittedFindingCount(found) === 0).length
  const report = {
    dir,
    passed: verdict.passed,
    ...(verdict.message !== undefined && { message: verdict.message }),
    // Only machine-readable output needs the ends of findings.
    findings: output === 'text' ? findings : addFindingEndPositions(findings, read.bytesOf),
    ...(leftOut > 0 && { leftOut }),
  }
  verdicts?.save(report)
  return report
}

/** Identifies the code and its runtime. Undefined in a checkout, whose code changes without a build. */
function findBuild(): string | undefined {
  const script = join(import.meta.dirname, '../cli.joined.js')
  const stats = statSync(script, { bigint: true, throwIfNoEntry: false })
  return stats && `${process.version}-${stats.ino}-${stats.size}-${stats.ctimeNs}`
}

function countFindingsIncludingOmitted(findings: readonly Finding[]): number {
  return findings.reduce((sum, found) => sum + (getOmittedFindingCount(found) || 1), 0)
}

async function printTextReport(report: CatalogDirectoryReport, all: boolean): Promise<void> {
  const { renderText } = await import('@catalog-bot/findings/render-findings')
  const textOf = (file: string) => {
    try {
      return readFileSync(join(report.dir, file), 'utf8')
    } catch {
      return undefined
    }
  }
  printToStdout(`${escapeNonPrintableCharacters(report.dir)}: ${report.passed ? 'passed' : 'failed'}`)
  const { shown, more } = limitFindingsPerRule(report.findings, all ? Infinity : maxPrintedFindingsPerRule)
  const { findings: counted } = report
  if (counted.length > 0)
    printToStdout(renderText(shown, { textOf, counted, color: supportsColor(process.stdout) }))
  for (const [rule, count] of more) printToStdout(`… ${count} more of ${rule} (use --all to show them)`)
  if (report.leftOut !== undefined) printToStdout(`… and ${report.leftOut} less important findings`)
}

export async function loadSarifOptions() {
  const { allRules } = await import('../checks/all-rules.ts')
  const pages = getRulesBaseUrl()
  return { version: readPackageVersion(), rules: allRules, ...(pages !== undefined && { pages }) }
}

let isLongRun = false

/**
 * V8's compilers and threads take a fourth of a short run's processor time, so bin/catalog-bot.cjs limits them.
 * Enables them in a long run, or before a large file is read.
 */
function enableTurbofanIfNeeded(nextBytes: number): void {
  if (isLongRun) return
  isLongRun = nextBytes >= minFileBytesForTurbofan || process.cpuUsage().user >= minUserTimeForTurbofan
  if (isLongRun)
    setFlagsFromString(
      '--turbofan --invocation-count-for-maglev=400 --semi-space-growth-factor=2 --parallel-scavenge --incremental-marking',
    )
}

/** Changes V8's limits for the next step. In a checkout, there are none. */
function setFlagsOfShortRun(flags: string): void {
  if (!isLongRun && findBuild() !== undefined) setFlagsFromString(flags)
}

/**
 * From `file`, `.github/catalog-bot.yml` at the repository's root in the working copy, or the default.
 * Throws an Error with the location of each problem.
 */
export async function loadLocalConfig(directory: string, file: string | undefined): Promise<LocalConfig> {
  const there = realpathSync(directory)
  const top = findRepositoryRoot(there)
  const path = file === undefined ? join(top, configPath) : resolve(file)
  const root = relative(top, there).split(sep).join('/')
  if (file === undefined && !existsSync(path)) return { settings: {}, registries: [], root }
  // Loaded only if needed, because loading the schema and the rules takes longer than validating most catalogs.
  const { maxConfigBytes, parseConfigFile: readConfigFile } = await import('../config/config-file.ts')
  const content = await readRegularFile(path, file === undefined, maxConfigBytes)
  const { allRules } = await import('../checks/all-rules.ts')
  const { config, findings } = readConfigFile(content, new Set(allRules.map(({ id }) => id)))
  if (config !== undefined && findings.length === 0)
    return { settings: config.rules, registries: config.images.registries, root }
  throw new Error(
    findings.map(({ at, what }) => `${path}:${at?.line ?? 1}:${at?.column ?? 1}: ${what}`).join('\n'),
  )
}

/** Follows a symbolic link that the user specified, but rejects one at the default path, as catalog-bot does. */
async function readRegularFile(path: string, isBots: boolean, maxBytes: number) {
  if (isBots && lstatSync(path).isSymbolicLink()) return 'link'
  // A byte too many is enough to reject the file; a device may not end.
  return statSync(path).isDirectory() ? 'directory' : buffer(createReadStream(path, { end: maxBytes }))
}

/** The closest directory, upwards, that contains a configuration or is a repository. Default: the directory itself. */
function findRepositoryRoot(directory: string): string {
  for (let at = directory; ; at = dirname(at)) {
    if (existsSync(join(at, configPath)) || existsSync(join(at, '.git'))) return at
    if (dirname(at) === at) return directory
  }
}
