// Asks a running catalog the questions that OLM asks over gRPC. Connects only to loopback ports.
import { Client, credentials, status, type ServiceError } from '@grpc/grpc-js'
import type { AskedServer } from '../checks/install/running-catalog.ts'
import { serviceOf, type Message } from './services.ts'

/** Milliseconds for one call. */
const longestCall = 30_000
const largestAnswer = 1024 * 1024 * 1024

const health = serviceOf('grpc.health.v1.Health')
const registry = serviceOf('api.Registry')

/** Returns one answer per package. Never rejects: an answer says what the server did not provide. */
export async function askCatalog(
  server: string,
  port: number,
  packageNames: readonly string[],
): Promise<readonly AskedServer[]> {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
    'grpc.max_receive_message_length': largestAnswer,
    // A proxy from the environment must not receive calls to local ports.
    'grpc.enable_http_proxy': 0,
  })
  const call = caller(client)
  try {
    const [checked] = await call(health['Check'], { service: '' })
    if (checked?.['status'] !== 1) throw new Error('it says that it is not serving')
    const packages = (await call(registry['ListPackages'], {})).map((message) => textIn(message, 'name'))
    const bundles = (await call(registry['ListBundles'], {})).map((bundle) => ({
      package: textIn(bundle, 'packageName'),
      channel: textIn(bundle, 'channelName'),
      name: textIn(bundle, 'csvName'),
    }))
    const answers: AskedServer[] = []
    for (const name of packageNames) {
      const own = bundles.filter((bundle) => bundle.package === name)
      answers.push({ server, kind: 'answered', packages, bundles: own, ...(await askPackage(call, name)) })
    }
    return answers
  } catch (error) {
    return packageNames.map(() => ({ server, ...failureOf(error) }))
  } finally {
    client.close()
  }
}

/** Statuses caused by this machine or a passing condition, not by the catalog. */
const passing: ReadonlySet<number> = new Set([
  status.CANCELLED,
  status.DEADLINE_EXCEEDED,
  status.RESOURCE_EXHAUSTED,
  status.UNAVAILABLE,
])

function failureOf(error: unknown): { readonly kind: 'refused' | 'unknown'; readonly reason: string } {
  const { code, details, message } = error as Partial<ServiceError>
  const reason = details ?? message ?? String(error)
  return { kind: code === undefined || passing.has(code) ? 'unknown' : 'refused', reason }
}

async function askPackage(call: ReturnType<typeof caller>, packageName: string) {
  const [its] = await call(registry['GetPackage'], { name: packageName })
  const channels = listIn(its, 'channels').map((channel) => ({
    name: textIn(channel, 'name'),
    head: textIn(channel, 'csvName'),
  }))
  const refusals: string[] = []
  for (const { name, head } of channels) {
    const asked = { pkgName: packageName, channelName: name, csvName: head }
    const [bundle] = await call(registry['GetBundle'], asked)
    if (textIn(bundle, 'csvName') !== head) refusals.push(`it gives no bundle for the head of ${name}`)
  }
  return { defaultChannel: textIn(its, 'defaultChannelName'), channels, refusals }
}

function caller(client: Client) {
  return (
    method: ReturnType<typeof serviceOf>[string] | undefined,
    request: Message,
  ): Promise<readonly Message[]> =>
    new Promise((resolve, reject) => {
      if (!method) throw new Error('there is no such call')
      const { path, requestSerialize, responseDeserialize, responseStream } = method
      const options = { deadline: Date.now() + longestCall }
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
      const messages: Message[] = []
      const stream = client.makeServerStreamRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        options,
      )
      stream.on('data', (message: Message) => messages.push(message))
      stream.on('error', reject)
      stream.on('end', () => resolve(messages))
    })
}

function textIn(message: Message | undefined, field: string): string {
  const value = message?.[field]
  return typeof value === 'string' ? value : ''
}

function listIn(message: Message | undefined, field: string): readonly Message[] {
  const value = message?.[field]
  return Array.isArray(value) ? (value as Message[]) : []
}
