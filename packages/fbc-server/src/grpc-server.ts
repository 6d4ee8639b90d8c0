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
import * as queries from '@catalog-bot/fbc/api/registry-queries'
import { findPathComponentProblem } from '@catalog-bot/fbc/api/package-index'
import type { ServedCatalog } from '@catalog-bot/fbc/api/served-catalog'
import type { Json } from '@catalog-bot/fbc/go/json/json'
import {
  getGrpcService,
  getProtoStringField,
  type ProtoMessage,
  buildProtoFileDescriptors,
  type ProtoFileDescriptor,
} from './grpc-services.ts'

export interface GrpcServer {
  readonly port: number
  /** Waits up to `timeoutMs` milliseconds for running calls. */
  close(timeoutMs: number): Promise<void>
}

/** Limit in bytes: real requests hold only a few names. */
const maxRequestBytes = 1024 * 1024
/** Concurrent calls on one connection: OLM makes a handful. */
const maxConcurrentCalls = 100

/** Serves without TLS, like opm. Rejects if it cannot listen. */
export async function startGrpcServer(
  catalog: ServedCatalog,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<GrpcServer> {
  // The caller receives each error; the library would also print it.
  setLogVerbosity(logVerbosity.NONE)
  const server = new Server({
    'grpc.max_receive_message_length': maxRequestBytes,
    'grpc.max_concurrent_streams': maxConcurrentCalls,
  })
  server.addService(getGrpcService('api.Registry'), createRegistryService(catalog))
  server.addService(getGrpcService('api.ExperimentalRegistry'), createExperimentalRegistryService(catalog))
  server.addService(getGrpcService('grpc.health.v1.Health'), grpcHealthHandlers)
  const reflection = createReflectionHandler([
    'api.ExperimentalRegistry',
    'api.Registry',
    'grpc.health.v1.Health',
    'grpc.reflection.v1.ServerReflection',
    'grpc.reflection.v1alpha.ServerReflection',
  ])
  for (const version of ['v1', 'v1alpha'])
    server.addService(getGrpcService(`grpc.reflection.${version}.ServerReflection`), {
      ServerReflectionInfo: (call: ServerDuplexStream<ProtoMessage, ProtoMessage>) => {
        call.on('data', (request: ProtoMessage) => call.write(reflection(request)))
        call.on('end', () => call.end())
        // A client that disconnects is not an error.
        call.on('error', () => call.end())
      },
    })
  const bound = Promise.withResolvers<number>()
  server.bindAsync(formatHostAndPort(host, port), ServerCredentials.createInsecure(), (error, boundPort) =>
    error ? bound.reject(error) : bound.resolve(boundPort),
  )
  return {
    port: await bound.promise,
    close: (timeoutMs) =>
      new Promise((resolve) => {
        const late = setTimeout(() => server.forceShutdown(), timeoutMs)
        server.tryShutdown(() => {
          clearTimeout(late)
          resolve()
        })
      }),
  }
}

/** IPv6 addresses need brackets. */
export function formatHostAndPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

type UnaryHandler = handleUnaryCall<ProtoMessage, ProtoMessage>
type GrpcMessageStream = ServerWritableStream<ProtoMessage, ProtoMessage>

function createRegistryService(catalog: ServedCatalog): UntypedServiceImplementation {
  const bundleKey = (request: ProtoMessage) => ({
    package: getProtoStringField(request, 'pkgName'),
    channel: getProtoStringField(request, 'channelName'),
    name: getProtoStringField(request, 'csvName'),
  })
  const toRequestedGvk = (request: ProtoMessage): queries.RequestedGvk => ({
    group: getProtoStringField(request, 'group'),
    version: getProtoStringField(request, 'version'),
    kind: getProtoStringField(request, 'kind'),
  })
  const findBundle = (query: typeof queries.getBundle) =>
    createUnaryHandler((request) => query(catalog, bundleKey(request)))
  const listProviders = (query: typeof queries.getChannelEntriesThatProvide) =>
    createStreamingHandler((request) => unwrapQueryResult(query(catalog, toRequestedGvk(request))))
  return {
    ListPackages: createStreamingHandler(() => queries.listPackages(catalog).map((name) => ({ name }))),
    ListBundles: createStreamingHandler(() => queries.listBundles(catalog)),
    GetPackage: createUnaryHandler((request) =>
      queries.getPackage(catalog, getProtoStringField(request, 'name')),
    ),
    GetBundle: findBundle(queries.getBundle),
    GetBundleForChannel: findBundle(queries.getBundleForChannel),
    GetBundleThatReplaces: findBundle(queries.getBundleThatReplaces),
    GetDefaultBundleThatProvides: createUnaryHandler((request) =>
      queries.getDefaultBundleThatProvides(catalog, toRequestedGvk(request)),
    ),
    GetChannelEntriesThatReplace: createStreamingHandler((request) =>
      unwrapQueryResult(
        queries.getChannelEntriesThatReplace(catalog, getProtoStringField(request, 'csvName')),
      ),
    ),
    GetChannelEntriesThatProvide: listProviders(queries.getChannelEntriesThatProvide),
    GetLatestChannelEntriesThatProvide: listProviders(queries.getLatestChannelEntriesThatProvide),
  }
}

function createExperimentalRegistryService(catalog: ServedCatalog): UntypedServiceImplementation {
  return {
    ExperimentalListPackageCustomSchemas: createStreamingHandler((request, metadata) => {
      // opm requires this header because the interface is experimental.
      if (metadata.get('x-acknowledge-experimental')[0] !== 'true') return []
      const [schema, packageName] = [
        getProtoStringField(request, 'schema'),
        getProtoStringField(request, 'packageName'),
      ]
      if (schema === '') throw new GrpcStatusError(status.INVALID_ARGUMENT, 'schema is required')
      const problem =
        findPathComponentProblem('schema', schema) ??
        (packageName === '' ? undefined : findPathComponentProblem('packageName', packageName))
      if (problem !== undefined)
        throw new GrpcStatusError(status.INVALID_ARGUMENT, `invalid custom schema query: ${problem}`)
      return listCustomBlobs(catalog, schema, packageName)
    }),
  }
}

const olmSchemas: ReadonlySet<string> = new Set([
  'olm.package',
  'olm.channel',
  'olm.bundle',
  'olm.deprecations',
])

function* listCustomBlobs(
  catalog: ServedCatalog,
  schema: string,
  packageName: string,
): Generator<ProtoMessage> {
  if (olmSchemas.has(schema)) return
  for (const blob of catalog.blobs)
    if (blob.schema === schema && blob.package === packageName)
      yield toProtoStructMessage(JSON.parse(new TextDecoder().decode(blob.line)) as Record<string, Json>)
}

const grpcHealthHandlers: UntypedServiceImplementation = {
  Check: createUnaryHandler(() => ({ ok: true, value: { status: 1 } })),
  Watch: createStreamingHandler(() => {
    throw new GrpcStatusError(status.UNIMPLEMENTED, 'method Watch not implemented')
  }),
}

class GrpcStatusError extends Error {
  readonly code: status

  constructor(code: status, message: string) {
    super(message)
    this.code = code
  }
}

/** Like opm, sends errors without a status as `unknown`. */
function unwrapQueryResult<Value>(answer: queries.RegistryQueryResult<Value>): Value {
  if (!answer.ok) throw new GrpcStatusError(status.UNKNOWN, answer.error)
  return answer.value
}

function createUnaryHandler(
  answer: (request: ProtoMessage) => queries.RegistryQueryResult<object>,
): UnaryHandler {
  return (call, callback) => {
    try {
      callback(null, unwrapQueryResult(answer(call.request)) as ProtoMessage)
    } catch (error) {
      callback(toGrpcStatus(error))
    }
  }
}

function createStreamingHandler(
  answers: (request: ProtoMessage, metadata: Metadata) => Iterable<object>,
): handleServerStreamingCall<ProtoMessage, ProtoMessage> {
  return (call) => {
    streamGrpcMessages(call, answers).then(
      () => call.end(),
      (error: unknown) => call.emit('error', toGrpcStatus(error)),
    )
  }
}

/** Follows the client's pace, and yields regularly so that other calls are served. */
async function streamGrpcMessages(
  call: GrpcMessageStream,
  answers: (request: ProtoMessage, metadata: Metadata) => Iterable<object>,
): Promise<void> {
  let rested = performance.now()
  for (const answer of answers(call.request, call.metadata)) {
    if (call.cancelled || call.destroyed) return
    if (!call.write(answer as ProtoMessage)) await waitForStreamDrain(call)
    if (performance.now() - rested < maxUninterruptedSendMs) continue
    await new Promise((resolve) => setImmediate(resolve))
    rested = performance.now()
  }
}

/** Milliseconds. */
const maxUninterruptedSendMs = 20

function waitForStreamDrain(call: GrpcMessageStream): Promise<void> {
  return new Promise((resolve) => {
    const resume = (): void => {
      for (const event of ['drain', 'cancelled', 'close']) call.off(event, resume)
      resolve()
    }
    for (const event of ['drain', 'cancelled', 'close']) call.on(event, resume)
  })
}

function toGrpcStatus(error: unknown): { code: status; details: string } {
  if (error instanceof GrpcStatusError) return { code: error.code, details: error.message }
  return { code: status.INTERNAL, details: String(error) }
}

/** Converts JSON to the protobuf Struct that custom blobs are served as. */
function toProtoStructMessage(object: Readonly<Record<string, Json>>): ProtoMessage {
  return {
    fields: Object.fromEntries(
      Object.entries(object).map(([key, value]) => [key, toProtoValueMessage(value)]),
    ),
  }
}

function toProtoValueMessage(value: Json): ProtoMessage {
  if (value === null) return { null_value: 0 }
  if (typeof value === 'number') return { number_value: value }
  if (typeof value === 'string') return { string_value: value }
  if (typeof value === 'boolean') return { bool_value: value }
  if (Array.isArray(value))
    return { list_value: { values: value.map((item: Json) => toProtoValueMessage(item)) } }
  return { struct_value: toProtoStructMessage(value as Readonly<Record<string, Json>>) }
}

/** Answers requests of either version of the protocol. */
function createReflectionHandler(services: readonly string[]): (request: ProtoMessage) => ProtoMessage {
  const files = buildProtoFileDescriptors()
  const byName = new Map(files.map((file) => [file.name, file]))

  function collectDependencies(file: ProtoFileDescriptor, into = new Map<string, Uint8Array>()) {
    into.set(file.name, file.bytes)
    for (const name of file.dependencies) {
      const dependency = byName.get(name)
      if (dependency && !into.has(name)) collectDependencies(dependency, into)
    }
    return into
  }

  function toFileResponse(file: ProtoFileDescriptor | undefined, subject: string): ProtoMessage {
    if (!file) return createReflectionErrorResponse(status.NOT_FOUND, `${subject} not found`)
    return { file_descriptor_response: { file_descriptor_proto: [...collectDependencies(file).values()] } }
  }

  function respond(request: ProtoMessage): ProtoMessage {
    const kind = request['message_request']
    const found = typeof kind === 'string' ? request[kind] : undefined
    const query = typeof found === 'string' ? found : ''
    switch (kind) {
      case 'list_services':
        return { list_services_response: { service: services.map((name) => ({ name })) } }
      case 'file_by_filename':
        return toFileResponse(byName.get(query), query)
      case 'file_containing_symbol':
        return toFileResponse(
          files.find(({ symbols }) => symbols.has(query)),
          query,
        )
      case 'all_extension_numbers_of_type':
      case 'file_containing_extension':
        return createReflectionErrorResponse(status.NOT_FOUND, 'extensions are not supported')
      default:
        return createReflectionErrorResponse(status.INVALID_ARGUMENT, 'the request contains no query')
    }
  }

  return (request) => ({ valid_host: request['host'], original_request: request, ...respond(request) })
}

function createReflectionErrorResponse(code: status, message: string): ProtoMessage {
  return { error_response: { error_code: code, error_message: message } }
}
