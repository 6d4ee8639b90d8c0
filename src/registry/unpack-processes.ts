// Threads in which archives are unpacked. One that reads bundles goes on to the next one, because starting it costs more
// than most bundles do; whatever goes wrong in one ends it. Where nothing is read, each archive has its own.
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { RegistryError } from './registry-error.ts'
import type { UnpackOrder, UnpackResult } from './unpack-worker.ts'

/** Megabytes. Files lie outside the heap and have their own budget; what is read lies in it, many times as large. */
const heap = { unpacking: 128, reading: 512 }
/** Bundles after which a thread is ended all the same: nothing that one left behind stays for long. */
const mostBundles = 50
/** Milliseconds that a thread waits for another bundle. */
const longestRest = 10_000

interface Thread {
  readonly worker: Worker
  bundles: number
  rest?: NodeJS.Timeout
}

const resting: Thread[] = []

/** Rejects with a RegistryError for archives that are refused, take too long, or too much memory. */
export async function inUnpackThread(
  order: UnpackOrder,
  milliseconds: number,
): Promise<Exclude<UnpackResult, { readonly code: string }>> {
  const reads = order.reads === true
  const thread = (reads ? wake() : undefined) ?? startThread(reads ? heap.reading : heap.unpacking)
  let result: UnpackResult | undefined
  try {
    result = await answerOf(thread.worker, order, milliseconds)
  } finally {
    thread.bundles += 1
    if (result && reads && thread.bundles < mostBundles) rest(thread)
    else await thread.worker.terminate()
  }
  if (!('code' in result)) return result
  if (result.code === 'unknown') throw new Error(`unpacking failed: ${result.message}`)
  throw new RegistryError(result.code, result.message)
}

function startThread(megabytes: number): Thread {
  const worker = new Worker(new URL(`./unpack-worker${extname(import.meta.url)}`, import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: megabytes, maxYoungGenerationSizeMb: 32 },
    env: {},
  })
  const thread: Thread = { worker, bundles: 0 }
  // One that dies while it rests is none any more; while it works, answerOf() tells.
  worker.on('error', () => leave(thread))
  worker.on('exit', () => leave(thread))
  return thread
}

function leave(thread: Thread): void {
  clearTimeout(thread.rest)
  const at = resting.indexOf(thread)
  if (at >= 0) resting.splice(at, 1)
}

function wake(): Thread | undefined {
  const thread = resting.pop()
  if (!thread) return undefined
  clearTimeout(thread.rest)
  thread.worker.ref()
  return thread
}

/** Nothing waits for a thread that rests: neither the process's end nor a test's. */
function rest(thread: Thread): void {
  thread.worker.unref()
  thread.rest = setTimeout(() => {
    leave(thread)
    void thread.worker.terminate()
  }, longestRest).unref()
  resting.push(thread)
}

async function answerOf(worker: Worker, order: UnpackOrder, milliseconds: number): Promise<UnpackResult> {
  const { promise, resolve, reject } = Promise.withResolvers<UnpackResult>()
  // Time says as much about this machine as about the archive: it is nobody's fault, and tried again.
  const slow = `unpacking the image takes longer than ${milliseconds} milliseconds`
  const timer = setTimeout(() => reject(new RegistryError('timeout', slow)), milliseconds)
  const onError = (cause: unknown) => reject(refused('unpacking it takes too much memory', cause))
  const onExit = () => reject(refused('unpacking it ended early'))
  worker.once('message', resolve)
  worker.once('error', onError)
  worker.once('exit', onExit)
  try {
    worker.postMessage(order)
    return await promise
  } finally {
    clearTimeout(timer)
    worker.off('message', resolve)
    worker.off('error', onError)
    worker.off('exit', onExit)
  }
}

function refused(reason: string, cause?: unknown): RegistryError {
  return new RegistryError('unsupported', `the image is refused: ${reason}`, { cause })
}
