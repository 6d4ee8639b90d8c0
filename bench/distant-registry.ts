// The registry 50 ms away, in a thread of its own: what it costs to answer is not the client's.
import { parentPort, workerData } from 'node:worker_threads'
import { imageManifest, scriptedRegistry } from '../test/registry/scripted-registry.ts'

const { images } = workerData as { images: number }
const registry = await scriptedRegistry({ tls: true })
registry.script = async () => {
  registry.requests.length = 0
  await new Promise((answer) => setTimeout(answer, 50))
}
for (let index = 0; index < images; index += 1) registry.add('bench/app', `v${index}`, imageManifest('x'))
parentPort?.postMessage(registry.host)
