// Measures how fast deliveries are answered: the whole App over HTTP, with signed deliveries at a fixed rate, while
// it processes the resulting jobs. `npm run bench:deliveries -- [RATE] [SECONDS]`, 100 a second for 10 s by default.
import { createHmac, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startBotProcess } from '../sandbox/demo/bot-process.ts'
import { startDemoEnvironment } from '../sandbox/demo/demo-environment.ts'
import { buildCatalogBotCli } from './built-command.ts'

const webhookDeliveriesPerSecond = Number(process.argv[2] ?? 100)
const loadTestDurationSeconds = Number(process.argv[3] ?? 10)
const dataDirectory = await mkdtemp(join(tmpdir(), 'bench-deliveries-'))
const demoEnvironment = await startDemoEnvironment({ directory: dataDirectory })
const botProcess = await startBotProcess({
  command: await buildCatalogBotCli(),
  environment: { ...demoEnvironment.environment, LOG_LEVEL: 'warn' },
})
const httpAgent = new Agent({ keepAlive: true, maxSockets: 20, scheduling: 'fifo' })

function sendWebhookDelivery(number: number): Promise<number> {
  const body = JSON.stringify({
    action: 'synchronize',
    pull_request: { number, body: 'x'.repeat(20_000) },
    repository: { name: 'operators', owner: { login: 'coast' } },
    installation: { id: 1 },
  })
  const signature = createHmac('sha256', demoEnvironment.environment.WEBHOOK_SECRET ?? '')
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
      `${botProcess.url}/api/github/webhooks`,
      { method: 'POST', agent: httpAgent, headers },
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
  for (let warm = 0; warm < 20; warm++) await sendWebhookDelivery(warm + 1)
  const answers: Promise<number>[] = []
  const started = performance.now()
  for (let count = 0; count < webhookDeliveriesPerSecond * loadTestDurationSeconds; count++) {
    await pause(Math.max(0, started + (count * 1000) / webhookDeliveriesPerSecond - performance.now()))
    answers.push(sendWebhookDelivery((count % 50) + 1))
  }
  const times = (await Promise.all(answers)).sort((a, b) => a - b)
  const percentile = (share: number) =>
    (times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0).toFixed(1)
  process.stdout.write(
    `${times.length} deliveries at ${webhookDeliveriesPerSecond}/s: p50 ${percentile(0.5)} ms, p90 ${percentile(0.9)} ms, p99 ${percentile(0.99)} ms, max ${percentile(1)} ms\n`,
  )
} finally {
  httpAgent.destroy()
  await botProcess.kill('SIGKILL')
  await demoEnvironment.stop()
  await rm(dataDirectory, { recursive: true, force: true, maxRetries: 10 })
}
