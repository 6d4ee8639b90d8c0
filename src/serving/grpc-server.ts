// The gRPC API of `opm serve` for one catalog.
import {
  logVerbosity,
  Server,
  ServerCredentials,
  setLogVerbosity,
  status,
  type Metadata,
  type handleServerStreamingCall,
  type handleUnaryCall,
  type ServerDuplexStream,
  type ServerWritableStream,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'
import * as queries from '../catalog/api/registry-queries.ts'
import { componentProblem } from '../catalog/api/custom-blobs.ts'
import type { ServedCatalog } from '../catalog/api/served-catalog.ts'
import type { Json } from '../go/json/json.ts'
import { openReflection } from './reflection.ts'
import { serviceOf, type Message } from './services.ts'
import { structMessage } from './struct-message.ts'

export interface GrpcServer {
  readonly port: number
  /** Waits up to `patience` milliseconds for running calls. */
  close(patience: number): Promise<void>
}

/** Limit in bytes: real requests hold only a few names. */
const longestRequest = 1024 * 1024
/** Concurrent calls on one connection: OLM makes a handful. */
const mostCalls = 100

/** Serves without TLS, like opm. Rejects if it cannot listen. */
export async function openGrpcServer(
  catalog: ServedCatalog,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<GrpcServer> {
  // The caller receives each error; the library would also print it.
  setLogVerbosity(logVerbosity.NONE)
  const server = new Server({
    'grpc.max_receive_message_length': longestRequest,
    'grpc.max_concurrent_streams': mostCalls,
  })
  server.addService(serviceOf('api.Registry'), registryOf(catalog))
  server.addService(serviceOf('api.ExperimentalRegistry'), experimentalRegistryOf(catalog))
  server.addService(serviceOf('grpc.health.v1.Health'), health)
  const reflection = openReflection([
    'api.ExperimentalRegistry',
    'api.Registry',
    'grpc.health.v1.Health',
    'grpc.reflection.v1.ServerReflection',
    'grpc.reflection.v1alpha.ServerReflection',
  ])
  for (const version of ['v1', 'v1alpha'])
    server.addService(serviceOf(`grpc.reflection.${version}.ServerReflection`), {
      ServerReflectionInfo: (call: ServerDuplexStream<Message, Message>) => {
        call.on('data', (request: Message) => call.write(reflection(request)))
        call.on('end', () => call.end())
        // A client that disconnects is not an error.
        call.on('error', () => call.end())
      },
    })
  const bound = Promise.withResolvers<number>()
  server.bindAsync(addressOf(host, port), ServerCredentials.createInsecure(), (error, found) =>
    error ? bound.reject(error) : bound.resolve(found),
  )
  return {
    port: await bound.promise,
    close: (patience) =>
      new Promise((resolve) => {
        const late = setTimeout(() => server.forceShutdown(), patience)
        server.tryShutdown(() => {
          clearTimeout(late)
          resolve()
        })
      }),
  }
}

function addressOf(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

type Unary = handleUnaryCall<Message, Message>
type Stream = ServerWritableStream<Message, Message>

function registryOf(catalog: ServedCatalog): UntypedServiceImplementation {
  const bundleKey = (request: Message) => ({
    package: textOf(request, 'pkgName'),
    channel: textOf(request, 'channelName'),
    name: textOf(request, 'csvName'),
  })
  const wanted = (request: Message): queries.WantedApi => ({
    group: textOf(request, 'group'),
    version: textOf(request, 'version'),
    kind: textOf(request, 'kind'),
  })
  return {
    ListPackages: streaming(() => queries.listPackages(catalog).map((name) => ({ name }))),
    ListBundles: streaming(() => queries.listBundles(catalog)),
    GetPackage: unary((request) => queries.getPackage(catalog, textOf(request, 'name'))),
    GetBundle: unary((request) => queries.getBundle(catalog, bundleKey(request))),
    GetBundleForChannel: unary((request) => queries.getBundleForChannel(catalog, bundleKey(request))),
    GetBundleThatReplaces: unary((request) => queries.getBundleThatReplaces(catalog, bundleKey(request))),
    GetDefaultBundleThatProvides: unary((request) =>
      queries.getDefaultBundleThatProvides(catalog, wanted(request)),
    ),
    GetChannelEntriesThatReplace: streaming((request) =>
      valueOf(queries.getChannelEntriesThatReplace(catalog, textOf(request, 'csvName'))),
    ),
    GetChannelEntriesThatProvide: streaming((request) =>
      valueOf(queries.getChannelEntriesThatProvide(catalog, wanted(request))),
    ),
    GetLatestChannelEntriesThatProvide: streaming((request) =>
      valueOf(queries.getLatestChannelEntriesThatProvide(catalog, wanted(request))),
    ),
  }
}

function experimentalRegistryOf(catalog: ServedCatalog): UntypedServiceImplementation {
  return {
    ExperimentalListPackageCustomSchemas: streaming((request, metadata) => {
      // opm requires this header because the interface is experimental.
      if (metadata.get('x-acknowledge-experimental')[0] !== 'true') return []
      const [schema, packageName] = [textOf(request, 'schema'), textOf(request, 'packageName')]
      if (schema === '') throw new Refusal(status.INVALID_ARGUMENT, 'schema is required')
      const problem =
        componentProblem('schema', schema) ??
        (packageName === '' ? undefined : componentProblem('packageName', packageName))
      if (problem !== undefined)
        throw new Refusal(status.INVALID_ARGUMENT, `invalid custom schema query: ${problem}`)
      return customBlobs(catalog, schema, packageName)
    }),
  }
}

const ownSchemas: ReadonlySet<string> = new Set([
  'olm.package',
  'olm.channel',
  'olm.bundle',
  'olm.deprecations',
])

function* customBlobs(catalog: ServedCatalog, schema: string, packageName: string): Generator<Message> {
  if (ownSchemas.has(schema)) return
  for (const blob of catalog.blobs)
    if (blob.schema === schema && blob.package === packageName)
      yield structMessage(JSON.parse(new TextDecoder().decode(blob.line)) as Record<string, Json>)
}

const health: UntypedServiceImplementation = {
  Check: unary(() => ({ ok: true, value: { status: 1 } })),
  Watch: streaming(() => {
    throw new Refusal(status.UNIMPLEMENTED, 'method Watch not implemented')
  }),
}

class Refusal extends Error {
  readonly code: status

  constructor(code: status, message: string) {
    super(message)
    this.code = code
  }
}

/** Like opm, sends errors without a status as `unknown`. */
function valueOf<Value>(answer: queries.Answer<Value>): Value {
  if (!answer.ok) throw new Refusal(status.UNKNOWN, answer.error)
  return answer.value
}

function unary(answer: (request: Message) => queries.Answer<object>): Unary {
  return (call, callback) => {
    try {
      callback(null, valueOf(answer(call.request)) as Message)
    } catch (error) {
      callback(failureOf(error))
    }
  }
}

function streaming(
  answers: (request: Message, metadata: Metadata) => Iterable<object>,
): handleServerStreamingCall<Message, Message> {
  return (call) => {
    send(call, answers).then(
      () => call.end(),
      (error: unknown) => call.emit('error', failureOf(error)),
    )
  }
}

/** Follows the client's pace, and yields regularly so that other calls are served. */
async function send(
  call: Stream,
  answers: (request: Message, metadata: Metadata) => Iterable<object>,
): Promise<void> {
  let rested = performance.now()
  for (const answer of answers(call.request, call.metadata)) {
    if (call.cancelled || call.destroyed) return
    if (!call.write(answer as Message)) await drained(call)
    if (performance.now() - rested < longestTurn) continue
    await new Promise((resolve) => setImmediate(resolve))
    rested = performance.now()
  }
}

/** Milliseconds. */
const longestTurn = 20

function drained(call: Stream): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      for (const event of ['drain', 'cancelled', 'close']) call.off(event, go)
      resolve()
    }
    for (const event of ['drain', 'cancelled', 'close']) call.on(event, go)
  })
}

function failureOf(error: unknown): { code: status; details: string } {
  if (error instanceof Refusal) return { code: error.code, details: error.message }
  return { code: status.INTERNAL, details: String(error) }
}

function textOf(request: Message, field: string): string {
  const value = request[field]
  return typeof value === 'string' ? value : ''
}
