// Processes in which archives are unpacked. One that reads bundles goes on to the next one, because starting it costs more
// than most bundles do; whatever goes wrong in one ends it. Where nothing is read, each archive has its own. No threads:
// V8 gives up the whole process when a thread asks for much memory at once that it may not have.
import { fork, type ChildProcess } from 'node:child_process'
import { getCompileCacheDir } from 'node:module'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { RegistryError } from './registry-error.ts'
import type { UnpackOrder, UnpackResult } from './unpack-process.ts'

/** Megabytes. Files lie outside the heap and have their own budget; what is read lies in it, many times as large. */
const heap = { unpacking: 128, reading: 512 }
/** Bundles after which a process is ended all the same: nothing that one left behind stays for long. */
const mostBundles = 50
/** Milliseconds that a process waits for another bundle. */
const longestRest = 10_000

interface Unpacker {
  readonly child: ChildProcess
  bundles: number
  rest?: NodeJS.Timeout
}

const resting: Unpacker[] = []

/** Rejects with a RegistryError for archives that are refused, take too long, or too much memory. */
export async function inUnpackProcess(
  order: UnpackOrder,
  milliseconds: number,
): Promise<Exclude<UnpackResult, { readonly code: string }>> {
  const reads = order.reads === true
  const unpacker = (reads ? wake() : undefined) ?? startUnpacker(reads ? heap.reading : heap.unpacking)
  let result: UnpackResult | undefined
  try {
    result = await answerOf(unpacker.child, order, milliseconds)
  } finally {
    unpacker.bundles += 1
    if (result && reads && unpacker.bundles < mostBundles) rest(unpacker)
    else unpacker.child.kill('SIGKILL')
  }
  if (!('code' in result)) return result
  if (result.code === 'unknown') throw new Error(`unpacking failed: ${result.message}`)
  throw new RegistryError(result.code, result.message)
}

function startUnpacker(megabytes: number): Unpacker {
  const script = new URL(`./unpack-process${extname(import.meta.url)}`, import.meta.url)
  const compiled = getCompileCacheDir()
  const child = fork(fileURLToPath(script), [], {
    execPath: process.execPath,
    execArgv: ['--no-warnings', `--max-old-space-size=${megabytes}`],
    // Nothing of this process's secrets.
    env: compiled === undefined ? {} : { NODE_COMPILE_CACHE: compiled },
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const unpacker: Unpacker = { child, bundles: 0 }
  // One that dies while it rests is none any more; while it works, answerOf() tells.
  child.on('error', () => leave(unpacker))
  child.on('exit', () => leave(unpacker))
  return unpacker
}

function leave(unpacker: Unpacker): void {
  clearTimeout(unpacker.rest)
  const at = resting.indexOf(unpacker)
  if (at >= 0) resting.splice(at, 1)
}

function wake(): Unpacker | undefined {
  const unpacker = resting.pop()
  if (!unpacker) return undefined
  clearTimeout(unpacker.rest)
  unpacker.child.ref()
  unpacker.child.channel?.ref()
  return unpacker
}

/** Nothing waits for a process that rests: neither our own end nor a test's. */
function rest(unpacker: Unpacker): void {
  unpacker.child.unref()
  unpacker.child.channel?.unref()
  unpacker.rest = setTimeout(() => {
    leave(unpacker)
    unpacker.child.kill('SIGKILL')
  }, longestRest).unref()
  resting.push(unpacker)
}

async function answerOf(
  child: ChildProcess,
  order: UnpackOrder,
  milliseconds: number,
): Promise<UnpackResult> {
  const { promise, resolve, reject } = Promise.withResolvers<UnpackResult>()
  // Time says as much about this machine as about the archive: it is nobody's fault, and tried again.
  const slow = `unpacking the image takes longer than ${milliseconds} milliseconds`
  const timer = setTimeout(() => reject(new RegistryError('timeout', slow)), milliseconds)
  const onMessage = (result: unknown) => resolve(result as UnpackResult)
  const onError = (cause: unknown) => reject(new Error('unpacking could not be begun', { cause }))
  // V8 aborts where its heap is full. What else ends a process (a machine without memory) says nothing of the archive.
  const onExit = (_code: number | null, signal: string | null) =>
    reject(
      signal === 'SIGABRT'
        ? refused('unpacking it takes too much memory')
        : new RegistryError('timeout', `unpacking the image was ended early (${signal ?? 'it stopped'})`),
    )
  child.once('message', onMessage)
  child.once('error', onError)
  child.once('exit', onExit)
  try {
    child.send(order)
    return await promise
  } finally {
    clearTimeout(timer)
    child.off('message', onMessage)
    child.off('error', onError)
    child.off('exit', onExit)
  }
}

function refused(reason: string): RegistryError {
  return new RegistryError('unsupported', `the image is refused: ${reason}`)
}
