// Runs `opm serve` on a directory for a limited time. Only the operator chooses the opm binary. opm runs nothing from
// the directory and has no secrets in its environment.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CatalogServerResponse } from '@catalog-bot/fbc/api/api-types'
import { Client, credentials, status, type ServiceError } from '@grpc/grpc-js'
import { getGrpcService, getProtoStringField, type ProtoMessage } from './grpc-services.ts'

const grpcCallTimeoutMs = 30_000
const maxGrpcResponseBytes = 1024 * 1024 * 1024
const grpcHealthService = getGrpcService('grpc.health.v1.Health')
const grpcRegistryService = getGrpcService('api.Registry')

/** Statuses caused by this machine or a temporary condition, not by the catalog. */
const transientGrpcStatusCodes: ReadonlySet<number> = new Set([
  status.CANCELLED,
  status.DEADLINE_EXCEEDED,
  status.RESOURCE_EXHAUSTED,
  status.UNAVAILABLE,
])

const opmServerName = 'opm'
/** Failures that are not caused by the catalog. */
const opmEnvironmentErrorPattern =
  /listen tcp|bind:|no space left|permission denied|too many open files|cannot allocate/
/** The number of characters to keep from the end of the output, which explains the exit. */
const maxQuotedOpmOutputLength = 4000

/** Returns one answer per package. Never rejects; failing to run opm is not a verdict on the catalog. */
export async function queryOpmServer(
  opm: string,
  directory: string,
  packageNames: readonly string[],
  milliseconds: number,
): Promise<readonly CatalogServerResponse[]> {
  const scratch = await mkdtemp(join(tmpdir(), 'catalog-bot-opm-'))
  const port = await findFreePort()
  const child = spawn(
    opm,
    [
      ...['serve', directory, '--port', String(port), '--pprof-addr', ''],
      ...['--cache-dir', join(scratch, 'cache'), '--cache-enforce-integrity=false'],
      ...['--termination-log', join(scratch, 'termination.log')],
    ],
    { stdio: ['ignore', 'ignore', 'pipe'], env: { HOME: scratch, TMPDIR: scratch } },
  )
  const late = AbortSignal.timeout(milliseconds)
  const ended = once(child, 'close').catch(() => undefined)
  try {
    const started = await waitForStart()
    if (started !== undefined) return packageNames.map(() => started)
    const answers = queryCatalogServer(opmServerName, port, packageNames)
    const tooLate = once(late, 'abort').then(() =>
      packageNames.map(() => createOpmTimeoutResponse(milliseconds)),
    )
    return await Promise.race([answers, tooLate])
  } finally {
    child.kill('SIGKILL')
    await ended
    await rm(scratch, { recursive: true, force: true })
  }

  function waitForStart(): Promise<CatalogServerResponse | undefined> {
    let output = ''
    return new Promise((resolve) => {
      child.stderr.on('data', (chunk: Buffer) => {
        output = (output + chunk.toString()).slice(-maxQuotedOpmOutputLength)
        if (output.includes('serving registry')) resolve(undefined)
      })
      child.on('error', ({ message }) => resolve({ server: opmServerName, kind: 'unknown', reason: message }))
      child.on('close', (code) =>
        resolve(
          code === 1 && !opmEnvironmentErrorPattern.test(output)
            ? { server: opmServerName, kind: 'refused', reason: output.trim().split('\n').at(-1) ?? '' }
            : {
                server: opmServerName,
                kind: 'unknown',
                reason:
                  code === null
                    ? 'the opm process was terminated by a signal'
                    : `the opm process exited with code ${code}`,
              },
        ),
      )
      late.addEventListener('abort', () => resolve(createOpmTimeoutResponse(milliseconds)))
    })
  }
}

function createOpmTimeoutResponse(milliseconds: number): CatalogServerResponse {
  return {
    server: opmServerName,
    kind: 'unknown',
    reason: `opm took longer than ${Math.round(milliseconds / 1000)} s`,
  }
}

async function findFreePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}

// Sends OLM's gRPC queries to a running catalog. Connects only to loopback ports.

/** Returns one answer per package. Never rejects, because an answer describes what the server did not provide. */
export async function queryCatalogServer(
  server: string,
  port: number,
  packageNames: readonly string[],
): Promise<readonly CatalogServerResponse[]> {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
    'grpc.max_receive_message_length': maxGrpcResponseBytes,
    // A proxy from the environment must not receive calls to local ports.
    'grpc.enable_http_proxy': 0,
  })
  const call = createGrpcMethodCaller(client)
  try {
    const [checked] = await call(grpcHealthService['Check'], { service: '' })
    if (checked?.['status'] !== 1) throw new Error('the health check does not report the status SERVING')
    const packages = (await call(grpcRegistryService['ListPackages'], {})).map((message) =>
      getProtoStringField(message, 'name'),
    )
    const bundles = (await call(grpcRegistryService['ListBundles'], {})).map((bundle) => ({
      package: getProtoStringField(bundle, 'packageName'),
      channel: getProtoStringField(bundle, 'channelName'),
      name: getProtoStringField(bundle, 'csvName'),
    }))
    const answers: CatalogServerResponse[] = []
    for (const name of packageNames) {
      const own = bundles.filter((bundle) => bundle.package === name)
      answers.push({
        server,
        kind: 'answered',
        packages,
        bundles: own,
        ...(await queryPackageOverGrpc(call, name)),
      })
    }
    return answers
  } catch (error) {
    return packageNames.map(() => ({ server, ...classifyGrpcError(error) }))
  } finally {
    client.close()
  }
}

function classifyGrpcError(error: unknown): {
  readonly kind: 'refused' | 'unknown'
  readonly reason: string
} {
  const { code, details, message } = error as Partial<ServiceError>
  const reason = details ?? message ?? String(error)
  return { kind: code === undefined || transientGrpcStatusCodes.has(code) ? 'unknown' : 'refused', reason }
}

async function queryPackageOverGrpc(call: ReturnType<typeof createGrpcMethodCaller>, packageName: string) {
  const [its] = await call(grpcRegistryService['GetPackage'], { name: packageName })
  const channels = getProtoMessageList(its, 'channels').map((channel) => ({
    name: getProtoStringField(channel, 'name'),
    head: getProtoStringField(channel, 'csvName'),
  }))
  const errors: string[] = []
  for (const { name, head } of channels) {
    const bundleRequest = { pkgName: packageName, channelName: name, csvName: head }
    const [bundle] = await call(grpcRegistryService['GetBundle'], bundleRequest)
    if (getProtoStringField(bundle, 'csvName') !== head)
      errors.push(`the server returns no bundle for the head of channel ${name}`)
  }
  return { defaultChannel: getProtoStringField(its, 'defaultChannelName'), channels, errors }
}

function createGrpcMethodCaller(client: Client) {
  return (
    method: ReturnType<typeof getGrpcService>[string] | undefined,
    request: ProtoMessage,
  ): Promise<readonly ProtoMessage[]> =>
    new Promise((resolve, reject) => {
      if (!method) throw new Error('the gRPC method does not exist')
      const { path, requestSerialize, responseDeserialize, responseStream } = method
      const options = { deadline: Date.now() + grpcCallTimeoutMs }
      if (!responseStream) {
        client.makeUnaryRequest(
          path,
          requestSerialize,
          responseDeserialize,
          request,
          options,
          (error, answer) => (error ? reject(error) : resolve(answer ? [answer] : [])),
        )
        return
      }
      const messages: ProtoMessage[] = []
      const stream = client.makeServerStreamRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        options,
      )
      stream.on('data', (message: ProtoMessage) => messages.push(message))
      stream.on('error', reject)
      stream.on('end', () => resolve(messages))
    })
}

function getProtoMessageList(message: ProtoMessage | undefined, field: string): readonly ProtoMessage[] {
  const value = message?.[field]
  return Array.isArray(value) ? (value as ProtoMessage[]) : []
}
