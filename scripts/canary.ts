// Tells whether GitHub does what the sandbox does, for every rule that the App relies on when it merges: makes throw-away
// branches, pull requests and rulesets in a repository, tries each rule, and cleans up.
//
// `npm run canary -- --repository OWNER/NAME --token-file FILE [--yes] [--api-url URL] [--settle-seconds N] [--clean RUN]`
//
// Exit code: 0 all the same, 1 a difference, 2 it could not run or could not clean up, 130 interrupted.
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { probes } from './canary/probes.ts'
import type { Probe, ProbeGround } from './canary/probes.ts'
import { Stage, type Answer } from './canary/stage.ts'

const family = 'catalog-bot-canary'
// What a repository that was made for this has.
const expectedFiles = /^(?:README(?:\.md)?|LICENSE|\.gitignore)$/

const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => interrupted.abort(new Error(`interrupted by ${signal}`)))
// An error of our own must not end the process before it has cleaned up.
process.on('uncaughtException', (error) => interrupted.abort(error))

const say = (line: string): void => void process.stdout.write(`${line}\n`)

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
  const folder = await mkdtemp(join(tmpdir(), `${family}-`))
  const options = {
    apiUrl,
    repository,
    token,
    prefix: `${family}-${run}`,
    folder,
    settleMs,
    signal: interrupted.signal,
  }
  try {
    const cloneUrl = await readCloneUrl(
      new Stage({ ...options, cloneUrl: '' }),
      values.yes || values.clean !== undefined,
    )
    const stage = new Stage({ ...options, cloneUrl })
    if (values.clean !== undefined) return await clean(stage, 0)
    say(`Run ${run}. If this is killed, clean up with the same command and --clean ${run}`)
    await stage.prepare()
    let code = 2
    try {
      code = await runProbes(stage)
    } catch (error) {
      if (interrupted.signal.aborted) code = 130
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    }
    return await clean(stage, code)
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 10 })
  }
}

/** Where git pushes to. Throws unless the repository was made for this, or its administrator says yes. */
async function readCloneUrl(stage: Stage, isAllowed: boolean): Promise<string> {
  const { status, data } = await stage.call('GET', '')
  if (status !== 200) throw new Error(`GitHub answered ${status}: the token cannot read the repository`)
  const [contents, pulls, branches, rulesets] = await Promise.all(
    ['/contents/', '/pulls?state=open', '/branches?per_page=2', '/rulesets'].map((it) =>
      stage.call('GET', it),
    ),
  )
  const files = items(contents).map(({ path }) => String(path))
  const found = [
    ...files.filter((it) => !expectedFiles.test(it)).map((it) => `the file ${it}`),
    ...(items(pulls).length > 0 ? ['open pull requests'] : []),
    ...(items(branches).length > 1 ? ['several branches'] : []),
    ...(items(rulesets).length > 0 ? ['rulesets'] : []),
  ]
  // The first branch that is pushed becomes the default branch, and that one GitHub does not delete.
  if (items(branches).length === 0)
    throw new Error('The repository has no branch yet. Add a README to it first.')
  if (found.length > 0 && !isAllowed)
    throw new Error(
      `The repository has ${found.slice(0, 5).join(', ')}. Use a repository with nothing but a README, or add --yes: the canary then creates and deletes its branches, pull requests and rulesets there.`,
    )
  return String(data['clone_url'])
}

const items = (answer: Answer | undefined): Answer['items'] => answer?.items ?? []

async function runProbes(stage: Stage): Promise<number> {
  const rows: { readonly probe: Probe; readonly observed: string; readonly isSame: boolean }[] = []
  for (const [at, probe] of probes.entries()) {
    const observed = await observe(stage, probe, at + 1)
    const isSame =
      observed === probe.expected || (probe.expected !== 'accepted' && observed.includes(probe.expected))
    rows.push({ probe, observed, isSame })
    process.stderr.write(`${at + 1}/${probes.length} ${isSame ? 'same' : 'DIFFERENT'}: ${probe.rule}\n`)
  }
  say(`\nChecks were reported as ${stage.evidence}.\n`)
  say('| rule | expected | observed | same? |')
  say('| --- | --- | --- | --- |')
  for (const { probe, observed, isSame } of rows)
    say(`| ${[probe.rule, probe.expected, observed, isSame ? 'yes' : 'NO'].map(cell).join(' | ')} |`)
  const different = rows.filter(({ isSame }) => !isSame)
  for (const { probe } of different) say(`\n${probe.rule}: see ${probe.source}`)
  say(
    different.length === 0
      ? `\nGitHub does what the App expects, in all ${rows.length} rules.`
      : `\nGitHub does otherwise in ${different.length} of ${rows.length} rules. Report the table to catalog-bot.`,
  )
  return different.length === 0 ? 0 : 1
}

const cell = (text: string): string => text.replaceAll('|', '\\|')

/** Branches, a pull request and a ruleset for one rule, and what GitHub does then. */
async function observe(stage: Stage, probe: Probe, number: number): Promise<string> {
  const [base, head, temporary] = ['base', 'head', 'tmp'].map((it) => `${number}/${it}`) as [
    string,
    string,
    string,
  ]
  const root = await stage.commit(['root', `${number}`], [])
  const H = await stage.commit(['head', 'root', `${number}`], [root])
  await stage.mustPush(base, root)
  await stage.mustPush(head, H)
  const pull = await stage.openPull(head, base)
  const isBehind = probe.upToDate !== true
  const B = isBehind ? await stage.commit(['base', 'root', `${number}`], [root]) : root
  if (isBehind) await stage.mustPush(base, B)
  const files = [...(isBehind ? ['base'] : []), 'head', 'root', `${number}`]
  const M = await stage.commit(files, [B, H])
  if (probe.rules.length > 0) await stage.protect(base, probe.rules)
  const ground: ProbeGround = { stage, base, temporary, number: pull, B, H, M }
  return await probe.attempt(ground)
}

async function clean(stage: Stage, code: number): Promise<number> {
  const left = await stage.clean()
  for (const it of left) process.stderr.write(`not cleaned up: ${it}\n`)
  if (left.length === 0) process.stderr.write('Cleaned up.\n')
  return left.length > 0 ? 2 : code
}

process.exitCode = await main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  return interrupted.signal.aborted ? 130 : 2
})
