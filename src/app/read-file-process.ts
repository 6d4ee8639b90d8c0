// One of the pool's readers: bytes in, facts out, in order.
import { parentPort } from 'node:worker_threads'
import { readFile } from '../catalog/read-file.ts'

parentPort?.on('message', (bytes: Uint8Array) => parentPort?.postMessage(readFile(bytes)))
