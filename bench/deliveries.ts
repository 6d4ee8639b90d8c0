// How fast deliveries are answered: the whole App over HTTP, signed deliveries at a fixed rate, with the jobs that
// they give rise to being worked off beside it. `npm run bench:deliveries -- [RATE] [SECONDS]`, 100 a second for 10 s.
import { createHmac, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startBot } from '../sandbox/demo/bot-process.ts'
import { openDemoWorld } from '../sandbox/demo/demo-world.ts'

const rate = Number(process.argv[2] ?? 100)
const seconds = Number(process.argv[3] ?? 10)
const directory = await mkdtemp(join(tmpdir(), 'bench-deliveries-'))
const coast = await openDemoWorld({ directory })
const bot = await startBot({ environment: { ...coast.environment, LOG_LEVEL: 'warn' } })
const agent = new Agent({ keepAlive: true, maxSockets: 20, scheduling: 'fifo' })

function send(number: number): Promise<number> {
  const body = JSON.stringify({
    action: 'synchronize',
    pull_request: { number, body: 'x'.repeat(20_000) },
    repository: { name: 'operators', owner: { login: 'coast' } },
    installation: { id: 1 },
  })
  const signature = createHmac('sha256', coast.environment.WEBHOOK_SECRET ?? '')
    .update(body)
    .digest('hex')
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'x-github-event': 'pull_request',
    'x-github-delivery': randomUUID(),
    'x-hub-signature-256': `sha256=${signature}`,
  }
  const started = performance.now()
  return new Promise((resolve, reject) => {
    const call = request(
      `${bot.address}/api/github/webhooks`,
      { method: 'POST', agent, headers },
      (response) => {
        response.resume()
        response.once('end', () => {
          if (response.statusCode === 202) resolve(performance.now() - started)
          else reject(new Error(`answered ${response.statusCode}`))
        })
      },
    )
    call.once('error', reject)
    call.end(body)
  })
}

try {
  for (let warm = 0; warm < 20; warm++) await send(warm + 1)
  const answers: Promise<number>[] = []
  const started = performance.now()
  for (let count = 0; count < rate * seconds; count++) {
    await pause(Math.max(0, started + (count * 1000) / rate - performance.now()))
    answers.push(send((count % 50) + 1))
  }
  const times = (await Promise.all(answers)).sort((a, b) => a - b)
  const at = (share: number) =>
    (times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0).toFixed(1)
  process.stdout.write(
    `${times.length} deliveries at ${rate}/s: p50 ${at(0.5)} ms, p90 ${at(0.9)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms\n`,
  )
} finally {
  agent.destroy()
  await bot.kill('SIGKILL')
  await coast.stop()
  await rm(directory, { recursive: true, force: true, maxRetries: 10 })
}
