// A registry with a latency of 50 ms, in a separate thread, so that its processor time does not count for the client.
import { parentPort, workerData } from 'node:worker_threads'
import { createImageManifest, startScriptedRegistry } from '../test/adapters/registry/scripted-registry.ts'

const { images } = workerData as { images: number }
const highLatencyRegistry = await startScriptedRegistry({ tls: true })
highLatencyRegistry.script = async () => {
  highLatencyRegistry.requests.length = 0
  await new Promise((answer) => setTimeout(answer, 50))
}
for (let index = 0; index < images; index += 1)
  highLatencyRegistry.add('bench/app', `v${index}`, createImageManifest('x'))
parentPort?.postMessage(highLatencyRegistry.host)
