// One of the pool's readers: bytes in, facts out, in order. Ends with the process that started it.
import { readFile } from '../catalog/read-file.ts'

process.on('message', (bytes: Uint8Array) => process.send?.(readFile(bytes)))
