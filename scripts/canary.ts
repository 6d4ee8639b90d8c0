// Checks that GitHub behaves like the sandbox, for every rule that the App relies on when it merges. Creates
// temporary branches, pull requests, and rulesets in a repository, tests each rule, and cleans up. `npm run canary` prints its
// usage. Exit codes: 0 no difference, 1 a difference, 2 the run or the cleanup failed, 130 interrupted.
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { canaryProbes } from './canary/probes.ts'
import type { CanaryProbe, CanaryProbeContext } from './canary/probes.ts'
import { CanaryRepository, type GitHubApiResponse } from './canary/canary-repository.ts'

const canaryNamePrefix = 'catalog-bot-canary'
// The expected contents of a dedicated repository.
const expectedRepositoryFilePattern = /^(?:README(?:\.md)?|LICENSE|\.gitignore)$/

const interruptAbortController = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => interruptAbortController.abort(new Error(`interrupted by ${signal}`)))
// An unexpected error must not end the process before it has cleaned up.
process.on('uncaughtException', (error) => interruptAbortController.abort(error))

const printLine = (line: string): void => void process.stdout.write(`${line}\n`)

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      repository: { type: 'string' },
      'token-file': { type: 'string' },
      'api-url': { type: 'string', default: process.env['GITHUB_API_URL'] ?? 'https://api.github.com' },
      'settle-seconds': { type: 'string', default: '10' },
      clean: { type: 'string' },
      yes: { type: 'boolean', default: false },
    },
  })
  const { repository = '', 'token-file': tokenFile } = values
  const settleMs = Number(values['settle-seconds']) * 1000
  const isWrong =
    !/^[\w.-]+\/[\w.-]+$/.test(repository) ||
    tokenFile === undefined ||
    !(settleMs >= 0) ||
    !/^[0-9a-f]{16}$/.test(values.clean ?? '0'.repeat(16))
  if (isWrong) {
    process.stderr.write(
      'usage: npm run canary -- --repository OWNER/NAME --token-file FILE [--yes] [--api-url URL] [--settle-seconds N] [--clean RUN]\n',
    )
    return 2
  }
  const token = (await readFile(tokenFile, 'utf8')).trim()
  const apiUrl = values['api-url'].replace(/\/$/, '')
  const run = values.clean ?? randomBytes(8).toString('hex')
  const folder = await mkdtemp(join(tmpdir(), `${canaryNamePrefix}-`))
  const options = {
    apiUrl,
    repository,
    token,
    prefix: `${canaryNamePrefix}-${run}`,
    folder,
    settleMs,
    signal: interruptAbortController.signal,
  }
  try {
    const cloneUrl = await readCloneUrl(
      new CanaryRepository({ ...options, cloneUrl: '' }),
      values.yes || values.clean !== undefined,
    )
    const stage = new CanaryRepository({ ...options, cloneUrl })
    if (values.clean !== undefined) return await cleanUpCanaryRepository(stage, 0)
    printLine(
      `Run ID: ${run}. If this process is killed, run the same command with --clean ${run} to clean up.`,
    )
    await stage.prepare()
    let code = 2
    try {
      code = await runProbes(stage)
    } catch (error) {
      if (interruptAbortController.signal.aborted) code = 130
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    }
    return await cleanUpCanaryRepository(stage, code)
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 10 })
  }
}

/** The URL that Git pushes to. Throws unless the repository is dedicated to this, or --yes was given. */
async function readCloneUrl(stage: CanaryRepository, isAllowed: boolean): Promise<string> {
  const { status, data } = await stage.call('GET', '')
  if (status !== 200) throw new Error(`GitHub returned HTTP ${status}: the token cannot read the repository`)
  const [contents, pulls, branches, rulesets] = await Promise.all(
    ['/contents/', '/pulls?state=open', '/branches?per_page=2', '/rulesets'].map((it) =>
      stage.call('GET', it),
    ),
  )
  const files = getResponseItems(contents).map(({ path }) => String(path))
  const found = [
    ...files.filter((it) => !expectedRepositoryFilePattern.test(it)).map((it) => `the file ${it}`),
    ...(getResponseItems(pulls).length > 0 ? ['open pull requests'] : []),
    ...(getResponseItems(branches).length > 1 ? ['several branches'] : []),
    ...(getResponseItems(rulesets).length > 0 ? ['rulesets'] : []),
  ]
  // The first branch that is pushed becomes the default branch, which GitHub does not delete.
  if (getResponseItems(branches).length === 0)
    throw new Error('The repository has no branch yet. Add a README to it first.')
  if (found.length > 0 && !isAllowed)
    throw new Error(
      `The repository has ${found.slice(0, 5).join(', ')}. Use a repository that contains only a README. If you add --yes, the canary creates and deletes its own branches, pull requests, and rulesets in this repository.`,
    )
  return String(data['clone_url'])
}

const getResponseItems = (answer: GitHubApiResponse | undefined): GitHubApiResponse['items'] =>
  answer?.items ?? []

async function runProbes(stage: CanaryRepository): Promise<number> {
  const rows: { readonly probe: CanaryProbe; readonly observed: string; readonly isSame: boolean }[] = []
  for (const [at, probe] of canaryProbes.entries()) {
    const observed = await runProbe(stage, probe, at + 1)
    const isSame =
      observed === probe.expected || (probe.expected !== 'accepted' && observed.includes(probe.expected))
    rows.push({ probe, observed, isSame })
    process.stderr.write(`${at + 1}/${canaryProbes.length} ${isSame ? 'same' : 'DIFFERENT'}: ${probe.rule}\n`)
  }
  printLine(`\nChecks were reported as ${stage.evidence}.\n`)
  printLine('| rule | expected | observed | same? |')
  printLine('| --- | --- | --- | --- |')
  for (const { probe, observed, isSame } of rows)
    printLine(
      `| ${[probe.rule, probe.expected, observed, isSame ? 'yes' : 'NO'].map(formatTableCell).join(' | ')} |`,
    )
  const different = rows.filter(({ isSame }) => !isSame)
  for (const { probe } of different) printLine(`\n${probe.rule}: see ${probe.source}`)
  printLine(
    different.length === 0
      ? `\nGitHub behaves as the App expects for all ${rows.length} rules.`
      : `\nGitHub behaves differently for ${different.length} of ${rows.length} rules. Report the table to the catalog-bot project.`,
  )
  return different.length === 0 ? 0 : 1
}

const formatTableCell = (text: string): string => text.replaceAll('|', '\\|')

/** Creates branches, a pull request, and a ruleset for one rule, and returns GitHub's behavior. */
async function runProbe(stage: CanaryRepository, probe: CanaryProbe, number: number): Promise<string> {
  const [base, head, temporary] = ['base', 'head', 'tmp'].map((it) => `${number}/${it}`) as [
    string,
    string,
    string,
  ]
  const root = await stage.commit(['root', `${number}`], [])
  const H = await stage.commit(['head', 'root', `${number}`], [root])
  await stage.mustPush({ name: base, to: root }, { name: head, to: H })
  const pull = await stage.openPull(head, base)
  const isBehind = probe.upToDate !== true
  const B = isBehind ? await stage.commit(['base', 'root', `${number}`], [root]) : root
  if (isBehind) await stage.mustPush({ name: base, to: B })
  const files = [...(isBehind ? ['base'] : []), 'head', 'root', `${number}`]
  const M = await stage.commit(files, [B, H])
  if (probe.rules.length > 0) await stage.protect(base, probe.rules)
  const probeContext: CanaryProbeContext = { stage, base, temporary, number: pull, B, H, M }
  return await probe.attempt(probeContext)
}

async function cleanUpCanaryRepository(stage: CanaryRepository, code: number): Promise<number> {
  const leftovers = await stage.clean()
  for (const it of leftovers) process.stderr.write(`not cleaned up: ${it}\n`)
  if (leftovers.length === 0) process.stderr.write('Cleaned up.\n')
  return leftovers.length > 0 ? 2 : code
}

process.exitCode = await main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  return interruptAbortController.signal.aborted ? 130 : 2
})
