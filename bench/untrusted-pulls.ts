// Opens ten hostile pull requests from untrusted authors at once, followed by a harmless one. Measures the time until
// the harmless one merges, the latency of /healthz until then, and the memory and processor time of all processes.
// Processor time is the more stable figure on a shared machine. Usage:
// `npm run bench:untrusted-pulls [-- --after SECONDS]`.
// The measurement continues for that time after the merge, 20 by default.
import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startBotProcess } from '../sandbox/demo/bot-process.ts'
import { startDemoEnvironment, demoRepositoryName } from '../sandbox/demo/demo-environment.ts'
import { openDemoStory } from '../sandbox/demo/stories.ts'
import { commitTree, runGitForText, runGitForBytes } from '../sandbox/github/git/git-store.ts'
import { readCpuTimeMs, readProcessTreeCpuTimeMs } from '../scripts/cpu-time.ts'
import { readProcessTreeMemory } from '../src/server/store-metrics.ts'
import { buildCatalogBotCli } from './built-command.ts'

const { values } = parseArgs({ options: { after: { type: 'string', default: '20' } } })
const observationDurationSeconds = Number(values.after)

const generateNumberedLines = (count: number, line: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => line(at)).join('')
const yamlWithManyKeys = generateNumberedLines(16_000, (at) => `key${at}: [a]\n`)
const ownersFileWithManyReviewers = `---\nreviewers:\n${generateNumberedLines(1500, (at) => `  - account-${at}\n`)}`
const catalogFolder = 'catalogs/v4.20'

/** The changes of hostile pull requests, by description. */
const hostilePullRequestFiles: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'owner files of 16,000 keys': Object.fromEntries(
    generateNumberedLines(6, (at) => `${catalogFolder}/lighthouse/d${at}/OWNERS `)
      .concat(`${catalogFolder}/lighthouse/CATALOG_OWNERS`)
      .split(' ')
      .map((path) => [path, yamlWithManyKeys]),
  ),
  'an owner file of 1,500 logins': { 'operators/newcomer/ci.yaml': ownersFileWithManyReviewers },
  'a reference list of 40,000 keys': {
    'catalogs.yaml': generateNumberedLines(40_000, (at) => `key${at}: b\n`),
  },
  'a list nested 100,000 deep': { [`${catalogFolder}/lighthouse/OWNERS`]: 'a: ' + '['.repeat(100_000) },
  '100,000 syntax errors on a line': {
    [`${catalogFolder}/tidepool/OWNERS`]: 'a: ' + '"x" "y" @ '.repeat(20_000),
  },
  '100,000 ignore patterns': {
    [`${catalogFolder}/.indexignore`]: generateNumberedLines(100_000, (at) => `a*${at}*b*c\n`),
    ...Object.fromEntries(
      Array.from({ length: 1500 }, (_, at) => [`${catalogFolder}/lighthouse/f${at}.yaml`, 'schema: x\n']),
    ),
  },
  '3,000 files': Object.fromEntries(
    Array.from({ length: 3000 }, (_, at) => [
      `${catalogFolder}/p${at}/catalog.yaml`,
      `schema: olm.package\nname: p${at}\n`,
    ]),
  ),
  'a channel of 60,000 entries': {
    [`${catalogFolder}/lighthouse/more.yaml`]: `schema: olm.channel\npackage: lighthouse\nname: c\nentries:\n${generateNumberedLines(60_000, (at) => `- name: a.v${at + 1}.0.0\n  replaces: a.v${at}.0.0\n`)}`,
  },
  '3,000 comments': { 'README.md': 'hello\n' },
}

/** A commit on the base's tip with nine new tree objects that expand to a billion paths. No process may list them. */
async function writeCommitWithBillionPaths(path: string, tip: string): Promise<string> {
  const make = async (entries: readonly string[]) =>
    (await runGitForBytes(path, ['mktree'], [Buffer.from(entries.join(''))])).toString().trim()
  let tree = (await runGitForBytes(path, ['hash-object', '-w', '--stdin'], [Buffer.from('x')]))
    .toString()
    .trim()
  for (let level = 0; level < 9; level += 1) {
    const kind = level === 0 ? '100644 blob' : '040000 tree'
    tree = await make(Array.from({ length: 10 }, (_, at) => `${kind} ${tree}\tn${at}\n`))
  }
  const top = await make([await runGitForText(path, 'ls-tree', tip), `040000 tree ${tree}\tbomb\n`])
  return commitTree(path, top, [tip], 'Nine trees', { name: 'mallory', email: 'mallory@example.com', at: 0 })
}

const dataDirectory = await mkdtemp(join(tmpdir(), 'untrusted-pulls-'))
const demo = await startDemoEnvironment({ directory: dataDirectory })
const botProcess = await startBotProcess({
  command: await buildCatalogBotCli(),
  environment: demo.environment,
  ...(process.env['BENCH_LOG'] && { onLog: console.error }),
})
const botPid = botProcess.process.pid ?? 0
/** Milliseconds of catalog-bot with the processes that it started, and of the sandbox: this process and Git. */
function readCpuTimesMs(): { readonly bot: number; readonly sandbox: number } {
  const bot = readProcessTreeCpuTimeMs(botPid)
  return { bot, sandbox: readCpuTimeMs() - bot }
}
let [slowest, maxMemory, isOver] = [0, 0, false]
const healthPollingLoop = (async () => {
  while (!isOver) {
    const started = performance.now()
    await fetch(`${botProcess.url}/healthz`).then((answer) => answer.text())
    slowest = Math.max(slowest, performance.now() - started)
    await pause(20)
  }
})()
const memoryPollingLoop = (async () => {
  while (!isOver) {
    maxMemory = Math.max(maxMemory, ((await readProcessTreeMemory(botPid)) ?? 0) / 1e6)
    await pause(250)
  }
})()
try {
  const pulls: { title: string; pull: Awaited<ReturnType<typeof demo.github.openPull>> }[] = []
  for (const [title, changes] of Object.entries(hostilePullRequestFiles)) {
    const pull = await demo.github.openPull({
      repository: demoRepositoryName,
      author: 'mallory',
      title,
      changes,
    })
    pulls.push({ title, pull })
    if (title === '3,000 comments')
      for (let count = 0; count < 3000; count += 1) demo.github.comment(pull, 'mallory', `/approve ${count}`)
  }
  const tip = await runGitForText(demo.repository.path, 'rev-parse', 'refs/heads/main')
  const title = 'nine trees for a billion paths'
  const commit = await writeCommitWithBillionPaths(demo.repository.path, tip.trim())
  pulls.push({
    title,
    pull: await demo.github.openPull({ repository: demoRepositoryName, author: 'mallory', title, commit }),
  })
  const { pull: harmless } = await openDemoStory(demo, 'good update')
  // All at once, like an attack.
  demo.github.sendWebhooksTo(`${botProcess.url}/api/github/webhooks`)
  slowest = 0
  const before = readCpuTimesMs()
  const started = performance.now()
  const send = async (number: number) =>
    demo.github.comment(pulls.find(({ pull }) => pull.number === number)?.pull ?? harmless, 'mallory', 'look')
  for (const { pull } of pulls) await send(pull.number)
  await send(harmless.number)
  while (harmless.merged === null && performance.now() - started < 300_000) await pause(20)
  const merged = performance.now() - started
  const used = readCpuTimesMs()
  const seconds = (milliseconds: number) => `${(milliseconds / 1000).toFixed(1)} s`
  process.stdout.write(
    `${pulls.length} hostile pull requests open; a harmless one ${harmless.merged !== null ? 'merged' : 'NOT merged'} after ${seconds(merged)}\n` +
      `processor time until then: catalog-bot ${seconds(used.bot - before.bot)}, the sandbox's GitHub ${seconds(used.sandbox - before.sandbox)}; load ${loadavg()[0]?.toFixed(1)} of ${availableParallelism()} processors\n` +
      `/healthz took ${slowest.toFixed(0)} ms at most; all processes ${maxMemory.toFixed(0)} MB at most\n`,
  )
  if (harmless.merged === null) process.exitCode = 1
  await pause(observationDurationSeconds * 1000)
  process.stdout.write(
    `${observationDurationSeconds} s later: /healthz took ${slowest.toFixed(0)} ms at most; all processes ${maxMemory.toFixed(0)} MB at most\n`,
  )
} finally {
  isOver = true
  await Promise.all([healthPollingLoop, memoryPollingLoop])
  await botProcess.kill('SIGKILL')
  await demo.stop()
  await rm(dataDirectory, { recursive: true, force: true, maxRetries: 10 })
}
