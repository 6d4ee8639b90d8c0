// Sends the same requests to `opm serve` and to catalog-bot's server: every call that a catalog has an answer for,
// and some that it has none for. `node scripts/compare-serving.ts DIRECTORY...` prints counts and differences, and
// exits with 1 if there are any.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js'
import {
  buildServedCatalog,
  type ServedCatalog,
  parseServedCatalogFile,
} from '@catalog-bot/fbc/api/served-catalog'
import { listCatalogDirectoryFiles } from '../src/catalogs/catalog-directory.ts'
import { type Json, toSortedJson } from '@catalog-bot/fbc/go/json/json'
import { startGrpcServer } from '../packages/fbc-server/src/grpc-server.ts'
import { getGrpcService, type ProtoMessage } from '../packages/fbc-server/src/grpc-services.ts'
import { findFreePort } from './free-port.ts'

export interface ServingComparison {
  readonly calls: number
  /** Calls where opm's answer depends on the order of a Go map, and catalog-bot's answer is another possible one. */
  readonly random: number
  readonly differences: readonly { readonly call: string; readonly opm: unknown; readonly ours: unknown }[]
}

/** The result of a call: messages, or the status that it ended with. */
type GrpcCallOutcome = readonly ProtoMessage[] | { readonly code: number; readonly details: string }

interface GrpcCall {
  readonly service: string
  readonly method: string
  readonly request: ProtoMessage
  /** Whether opm determines the order of the answers. */
  readonly inOrder?: boolean
  readonly metadata?: Metadata
  /** The bundles that opm may answer with. */
  readonly anyOf?: ReadonlySet<string>
}

/** Reads a directory like the command. Throws if opm would not serve it. */
function loadServedCatalog(dir: string): ServedCatalog {
  const directory = listCatalogDirectoryFiles(dir)
  if (directory.kind !== 'files') throw new Error(directory.message)
  const read = buildServedCatalog(
    directory.files.map((file) => {
      const bytes = file.read()
      if ('error' in bytes) throw new Error(bytes.error)
      return { path: file.path, file: parseServedCatalogFile(bytes) }
    }),
  )
  if (!read.ok) throw new Error(read.error)
  return read.value
}

/**
 * Compares the two servers on one catalog directory. `opm` must be on the PATH. With `cache`, opm starts from that
 * cache, and only if its integrity check passes. Otherwise opm creates a cache.
 */
export async function compareServing(dir: string, cache?: string): Promise<ServingComparison> {
  const catalog = loadServedCatalog(dir)
  const opm = await startOpm(dir, cache)
  const ours = await startGrpcServer(catalog, { host: '127.0.0.1', port: 0 })
  const [theirClient, ourClient] = [opm.port, ours.port].map(
    (port) =>
      new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
        'grpc.max_receive_message_length': -1,
      }),
  ) as [Client, Client]
  const differences: ServingComparison['differences'][number][] = []
  let [calls, random] = [0, 0]
  try {
    for (const call of generateGrpcCalls(catalog)) {
      calls++
      const [theirs, own] = await Promise.all([
        callGrpcServer(theirClient, call),
        callGrpcServer(ourClient, call),
      ])
      if (isDeepStrictEqual(theirs, own)) continue
      if (isAllowedCallOutcome(call, theirs) && isAllowedCallOutcome(call, own)) random++
      else
        differences.push({ call: `${call.method} ${JSON.stringify(call.request)}`, opm: theirs, ours: own })
    }
  } finally {
    theirClient.close()
    ourClient.close()
    await Promise.all([opm.stop(), ours.close(1000)])
  }
  return { calls, random, differences }
}

function isAllowedCallOutcome({ anyOf }: GrpcCall, outcome: GrpcCallOutcome): boolean {
  const [bundle] = Array.isArray(outcome) ? (outcome as readonly ProtoMessage[]) : []
  return bundle !== undefined && anyOf?.has(String(bundle['csvName'])) === true
}

function* generateGrpcCalls(catalog: ServedCatalog): Generator<GrpcCall> {
  const service = 'api.Registry'
  const apis = new Map<string, ProtoMessage>([
    ['none', { group: 'no.such.group', version: 'v1', kind: 'Nothing' }],
    ['half', { group: '', version: 'v"1', kind: '' }],
  ])
  const replaced = new Set(['', 'no-such-bundle'])
  yield { service, method: 'ListPackages', request: {} }
  yield { service, method: 'ListBundles', request: {}, inOrder: true }
  for (const name of ['', 'no-such-package', 'odd "name"\n'])
    yield { service, method: 'GetPackage', request: { name } }
  for (const [pkgName, { channels }] of catalog.index) {
    yield { service, method: 'GetPackage', request: { name: pkgName } }
    for (const at of [
      { pkgName, channelName: 'no-such-channel' },
      { pkgName: `${pkgName}x`, channelName: 'a' },
    ]) {
      yield { service, method: 'GetBundleForChannel', request: at }
      yield { service, method: 'GetBundle', request: { ...at, csvName: 'x' } }
      yield { service, method: 'GetBundleThatReplaces', request: { ...at, csvName: 'x' } }
    }
    for (const [channelName, { bundles }] of channels) {
      const at = { pkgName, channelName }
      yield { service, method: 'GetBundleForChannel', request: at }
      yield { service, method: 'GetBundle', request: { ...at, csvName: 'no-such-bundle' } }
      const successors = new Map<string, Set<string>>([['no-such-bundle', new Set()]])
      for (const { name, replaces, skips } of bundles.values()) {
        yield { service, method: 'GetBundle', request: { ...at, csvName: name } }
        for (const before of [name, replaces, ...skips]) {
          const of = successors.get(before) ?? new Set()
          if (before !== name || replaces === name) of.add(name)
          successors.set(before, of)
          replaced.add(before)
        }
        for (const api of catalog.providedApis(pkgName, name)) apis.set(JSON.stringify(api), { ...api })
      }
      for (const [csvName, anyOf] of successors)
        yield { service, method: 'GetBundleThatReplaces', request: { ...at, csvName }, anyOf }
    }
  }
  for (const csvName of replaced)
    yield { service, method: 'GetChannelEntriesThatReplace', request: { csvName } }
  for (const request of apis.values())
    for (const method of [
      'GetChannelEntriesThatProvide',
      'GetLatestChannelEntriesThatProvide',
      'GetDefaultBundleThatProvides',
    ])
      yield { service, method, request }
  yield* generateUnsupportedCalls(catalog)
}

function* generateUnsupportedCalls(catalog: ServedCatalog): Generator<GrpcCall> {
  const metadata = new Metadata()
  metadata.set('x-acknowledge-experimental', 'true')
  const customs = new Map(
    catalog.blobs.map(({ schema, package: packageName }) => [
      JSON.stringify([schema, packageName]),
      { schema, packageName },
    ]),
  )
  const experimental = { service: 'api.ExperimentalRegistry', method: 'ExperimentalListPackageCustomSchemas' }
  for (const request of [
    ...customs.values(),
    { schema: '' },
    { schema: '../etc' },
    { schema: 'no.such', packageName: 'a/b' },
    { schema: 'no.such', packageName: '' },
  ]) {
    yield { ...experimental, request, metadata }
    yield { ...experimental, request }
  }
  for (const service of ['', 'api.Registry', 'no.such'])
    yield { service: 'grpc.health.v1.Health', method: 'Check', request: { service } }
  yield { service: 'grpc.health.v1.Health', method: 'Watch', request: {} }
}

async function callGrpcServer(client: Client, call: GrpcCall): Promise<GrpcCallOutcome> {
  const definition = getCachedGrpcService(call.service)[call.method]
  if (!definition) throw new Error(`no method ${call.method}`)
  const { path, requestSerialize, responseDeserialize, responseStream } = definition
  const stream = responseStream
    ? client.makeServerStreamRequest(
        path,
        requestSerialize,
        responseDeserialize,
        call.request,
        call.metadata ?? new Metadata(),
      )
    : undefined
  try {
    if (!stream)
      return [
        await new Promise<ProtoMessage>((resolve, reject) =>
          client.makeUnaryRequest(
            path,
            requestSerialize,
            responseDeserialize,
            call.request,
            (error, answer) => (error || !answer ? reject(error ?? new Error('no answer')) : resolve(answer)),
          ),
        ),
      ]
    const answers: ProtoMessage[] = []
    for await (const answer of stream) answers.push(answer as ProtoMessage)
    return call.inOrder === true ? answers : sortProtoMessages(answers)
  } catch (error) {
    const { code, details } = error as ServiceError
    return { code, details }
  }
}

const grpcServiceCache = new Map<string, ReturnType<typeof getGrpcService>>()

function getCachedGrpcService(name: string): ReturnType<typeof getGrpcService> {
  const known = grpcServiceCache.get(name) ?? getGrpcService(name)
  grpcServiceCache.set(name, known)
  return known
}

/** Go writes the fields of a Struct in random order. */
function sortProtoMessages(answers: readonly ProtoMessage[]): readonly ProtoMessage[] {
  return answers
    .map((answer) => ({ answer, text: toSortedJson(answer as Json) }))
    .sort((a, b) => (a.text < b.text ? -1 : 1))
    .map(({ answer }) => answer)
}

interface RunningOpm {
  readonly port: number
  stop(): Promise<void>
}

/** Starts `opm serve` for a directory. Resolves when it listens. */
async function startOpm(dir: string, cache: string | undefined): Promise<RunningOpm> {
  const scratch = mkdtempSync(join(tmpdir(), 'opm-serve-'))
  const port = await findFreePort()
  const child = spawn(
    'opm',
    [
      ...['serve', dir, '--port', String(port), '--pprof-addr', ''],
      ...['--cache-dir', cache ?? join(scratch, 'cache')],
      `--cache-enforce-integrity=${cache !== undefined}`,
      ...['--termination-log', join(scratch, 'termination.log')],
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const exited = once(child, 'exit')
  let output = ''
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      if (output.includes('serving registry')) resolve()
    })
    child.on('error', reject)
    child.on('exit', () => reject(new Error(output)))
  })
  return {
    port,
    async stop() {
      child.kill('SIGKILL')
      await exited
      rmSync(scratch, { recursive: true, force: true })
    },
  }
}

if (import.meta.main) {
  for (const dir of process.argv.slice(2)) {
    const { calls, random, differences } = await compareServing(dir)
    console.log(
      `${dir}: ${calls} calls, ${random} where opm's answer is random, ${differences.length} differences`,
    )
    for (const difference of differences.slice(0, 5))
      console.log(JSON.stringify(difference, undefined, 2).slice(0, 4000))
    if (differences.length > 0) process.exitCode = 1
  }
}
