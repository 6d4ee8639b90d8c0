// The gRPC server as clients use it: reflection for clients without the protocol, clients that disconnect, and
// shutdown. The comparison of its responses with opm is in compare-with-opm.test.ts.
import { afterAll, describe, expect, test } from '@jest/globals'
import { Client, credentials, status, type ClientReadableStream, type ServiceError } from '@grpc/grpc-js'
import protobuf from 'protobufjs'
import descriptor from 'protobufjs/ext/descriptor/index.js'
import {
  buildServedCatalog,
  type ServedCatalog,
  parseServedCatalogFile,
} from '../../../packages/fbc/src/api/served-catalog.ts'
import { startGrpcServer } from '../../../packages/fbc-server/src/grpc-server.ts'
import { getGrpcService, type ProtoMessage } from '../../../packages/fbc-server/src/grpc-services.ts'

const bundleCount = 24
/** More than the flow-control window of any connection. */
function createLargeCatalog(): ServedCatalog {
  const padding = 'x'.repeat(256 * 1024)
  const blobs: object[] = [
    { schema: 'olm.package', name: 'large', defaultChannel: 'only' },
    {
      schema: 'olm.channel',
      package: 'large',
      name: 'only',
      entries: Array.from({ length: bundleCount }, (_, at) => ({
        name: `large.v${at}.0.0`,
        ...(at > 0 && { replaces: `large.v${at - 1}.0.0` }),
      })),
    },
    ...Array.from({ length: bundleCount }, (_, at) => ({
      schema: 'olm.bundle',
      package: 'large',
      name: `large.v${at}.0.0`,
      image: `quay.io/example/large:v${at}`,
      properties: [
        { type: 'olm.package', value: { packageName: 'large', version: `${at}.0.0` } },
        { type: 'padding', value: padding },
      ],
    })),
  ]
  const text = blobs.map((blob) => JSON.stringify(blob)).join('\n')
  const read = buildServedCatalog([{ path: 'catalog.json', file: parseServedCatalogFile(Buffer.from(text)) }])
  if (!read.ok) throw new Error(read.error)
  return read.value
}

const testCatalog = createLargeCatalog()
const grpcServer = await startGrpcServer(testCatalog, { host: '127.0.0.1', port: 0 })
const grpcClient = new Client(`127.0.0.1:${grpcServer.port}`, credentials.createInsecure())
afterAll(async () => {
  grpcClient.close()
  await grpcServer.close(1000)
})

function startGrpcStream(
  service: string,
  method: string,
  request: ProtoMessage,
  by = grpcClient,
): ClientReadableStream<ProtoMessage> {
  const definition = getGrpcService(service)[method]
  if (!definition) throw new Error('no such method')
  const { path, requestSerialize, responseDeserialize } = definition
  return by.makeServerStreamRequest(path, requestSerialize, responseDeserialize, request)
}
const streamBundles = (by = grpcClient) => startGrpcStream('api.Registry', 'ListBundles', {}, by)

async function requestGrpcReflection(version: string, request: ProtoMessage): Promise<ProtoMessage> {
  const definition = getGrpcService(`grpc.reflection.${version}.ServerReflection`)['ServerReflectionInfo']
  if (!definition) throw new Error('no such method')
  const { path, requestSerialize, responseDeserialize } = definition
  const call = grpcClient.makeBidiStreamRequest(path, requestSerialize, responseDeserialize)
  call.write(request)
  call.end()
  const answers: ProtoMessage[] = []
  for await (const answer of call) answers.push(answer as ProtoMessage)
  expect(answers).toHaveLength(1)
  return answers[0] as ProtoMessage
}

describe('reflection', () => {
  test.each(['v1', 'v1alpha'])('%s lists the services that opm serves', async (version) => {
    expect(await requestGrpcReflection(version, { list_services: '' })).toMatchObject({
      list_services_response: {
        service: [
          { name: 'api.ExperimentalRegistry' },
          { name: 'api.Registry' },
          { name: 'grpc.health.v1.Health' },
          { name: 'grpc.reflection.v1.ServerReflection' },
          { name: 'grpc.reflection.v1alpha.ServerReflection' },
        ],
      },
    })
  })
  test('describes them completely enough for a client to call them', async () => {
    const { file_descriptor_response: found } = await requestGrpcReflection('v1', {
      file_containing_symbol: 'api.Registry.GetPackage',
    })
    const { file_descriptor_proto: files } = found as { file_descriptor_proto: Uint8Array[] }
    const described = files.map((bytes) => descriptor.FileDescriptorProto.decode(bytes))
    expect(described.map((file) => (file.toJSON() as { name: string }).name)).toEqual([
      'registry.proto',
      'google/protobuf/struct.proto',
    ])
    const set = descriptor.FileDescriptorSet.create({ file: described })
    const root = (protobuf.Root as unknown as { fromDescriptor(set: unknown): protobuf.Root }).fromDescriptor(
      set,
    )
    root.resolveAll()
    const bundle = root.lookupType('api.Bundle')
    expect(bundle.fields['deprecation']).toMatchObject({ id: 15, resolvedType: { name: 'Deprecation' } })
    expect(root.lookupService('api.Registry').methods['ListBundles']).toMatchObject({ responseStream: true })
    expect(root.lookupType('google.protobuf.Struct').fields['fields']).toMatchObject({
      repeated: true,
      resolvedType: { name: 'FieldsEntry', options: { map_entry: true } },
    })
  })
  test('reports what it does not know', async () => {
    for (const request of [
      { file_by_filename: 'no/such.proto' },
      { file_containing_symbol: 'api.Nothing' },
      { all_extension_numbers_of_type: 'api.Bundle' },
    ])
      expect(await requestGrpcReflection('v1', request)).toMatchObject({
        error_response: { error_code: status.NOT_FOUND },
      })
  })
})

describe('a long list', () => {
  test('arrives completely, and other calls are answered at the same time', async () => {
    const events: string[] = []
    const list = (async () => {
      for await (const _ of streamBundles()) events.push('bundle')
    })()
    const packages = (async () => {
      for await (const answer of startGrpcStream('api.Registry', 'ListPackages', {}))
        events.push((answer as { name: string }).name)
    })()
    await Promise.all([list, packages])
    expect(events.filter((event) => event === 'bundle')).toHaveLength(bundleCount)
    expect(events.indexOf('large')).toBeLessThan(events.length - 1)
  })
  test('is not read further after the client disconnected', async () => {
    let read = 0
    const counting: ServedCatalog = {
      ...testCatalog,
      index: testCatalog.index,
      blobs: testCatalog.blobs,
      providedApis: () => [],
      bundle(key) {
        read++
        return testCatalog.bundle(key)
      },
    }
    const other = await startGrpcServer(counting, { host: '127.0.0.1', port: 0 })
    const leaving = new Client(`127.0.0.1:${other.port}`, credentials.createInsecure())
    const call = streamBundles(leaving)
    const code = await new Promise((resolve) => {
      call.on('error', (error: ServiceError) => resolve(error.code))
      call.once('data', () => call.cancel())
    })
    expect(code).toBe(status.CANCELLED)
    leaving.close()
    // No client waits for the rest, so the server ends at once.
    await other.close(60_000)
    expect(read).toBeLessThan(bundleCount)
  })
})

test('a server that ends completes the running call and accepts no others', async () => {
  const ending = await startGrpcServer(testCatalog, { host: '127.0.0.1', port: 0 })
  const reflectionClient = new Client(`127.0.0.1:${ending.port}`, credentials.createInsecure())
  const call = streamBundles(reflectionClient)
  let count = 0
  let closed: Promise<void> | undefined
  for await (const _ of call) {
    count++
    closed ??= ending.close(60_000)
  }
  await closed
  expect(count).toBe(bundleCount)
  const late = streamBundles(reflectionClient)
  await expect(
    (async () => {
      for await (const _ of late) count++
    })(),
  ).rejects.toMatchObject({ code: status.UNAVAILABLE })
  reflectionClient.close()
})

test('an error reports a port that is in use', async () => {
  await expect(startGrpcServer(testCatalog, { host: '127.0.0.1', port: grpcServer.port })).rejects.toThrow(
    'EADDRINUSE',
  )
})
