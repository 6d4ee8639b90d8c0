// The registry 50 ms away, in a thread of its own: what it costs to answer is not the client's.
import { parentPort, workerData } from 'node:worker_threads'
import { createImageManifest, startScriptedRegistry } from '../test/registry/scripted-registry.ts'

const { images } = workerData as { images: number }
const highLatencyRegistry = await startScriptedRegistry({ tls: true })
highLatencyRegistry.script = async () => {
  highLatencyRegistry.requests.length = 0
  await new Promise((answer) => setTimeout(answer, 50))
}
for (let index = 0; index < images; index += 1)
  highLatencyRegistry.add('bench/app', `v${index}`, createImageManifest('x'))
parentPort?.postMessage(highLatencyRegistry.host)
