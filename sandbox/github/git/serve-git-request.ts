// Answers a request of Git's HTTP protocol like Git's own server: with git-http-backend or, for common requests, with
// the single process that it would start, or without a process if the answer is the same for every repository.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { memoizeOnce } from '@catalog-bot/findings/memoize'
import { runInIsolatedGitEnvironment } from './git-store.ts'
import { listRefs } from './list-refs.ts'
import { readRefs } from './refs.ts'

export interface GitHttpRequest {
  /** The path of the repository. */
  readonly path: string
  readonly method: string
  /** `info/refs`, `git-upload-pack` or `git-receive-pack`. */
  readonly service: string
  /** The query string. */
  readonly query: string
  readonly contentType: string
  /** The header Git-Protocol. */
  readonly protocol: string
  readonly user: string
  readonly body: Buffer
  /** For the hooks of a push. */
  readonly environment?: Readonly<Record<string, string>>
}

export interface GitHttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

export async function serveGitRequest(request: GitHttpRequest): Promise<GitHttpResponse> {
  const { path, method, service, query, contentType, protocol, body } = request
  const [, wanted] = /^service=git-(upload-pack|receive-pack)$/.exec(query) ?? []
  if (method === 'GET' && service === 'info/refs' && wanted !== undefined)
    return createGitResponse(`${wanted}-advertisement`, await advertiseCapabilities(path, wanted, protocol))
  const name = service.replace(/^git-/, '')
  const isCall = method === 'POST' && contentType === `application/x-git-${name}-request`
  if (!isCall) return await runHttpBackend(request)
  const refs = name === 'upload-pack' && protocol === 'version=2' ? await listRefs(path, body) : undefined
  const output = refs ?? (await runGitProgram('git', [name, '--stateless-rpc', path], request))
  return createGitResponse(`${name}-result`, output)
}

const createGitResponse = (kind: string, body: Buffer): GitHttpResponse => ({
  status: 200,
  headers: { 'content-type': `application/x-git-${kind}`, 'cache-control': 'no-cache' },
  body,
})

/** Git's capabilities, by service and version. They are the same for every repository of the sandbox. */
const gitCapabilityCache = new Map<string, Buffer>()

async function advertiseCapabilities(path: string, service: string, protocol: string): Promise<Buffer> {
  const key = `${service} ${protocol}`
  const known = gitCapabilityCache.get(key)
  // Version 2 advertises capabilities, and earlier versions advertise refs.
  const isOfAll = service === 'upload-pack' && protocol === 'version=2'
  if (known !== undefined) return isOfAll ? known : await advertisePushRefs(path, known, protocol)
  const args = [service, '--http-backend-info-refs', path]
  const advertisement = await runGitProgram('git', args, { protocol, body: Buffer.alloc(0) })
  if (isOfAll) gitCapabilityCache.set(key, advertisement)
  // A ref, a NUL, and the capabilities.
  const nul = advertisement.indexOf(0)
  if (service === 'receive-pack' && ['', 'version=2'].includes(protocol) && nul > 0)
    gitCapabilityCache.set(
      key,
      advertisement.subarray(nul, Number.parseInt(advertisement.toString('latin1', 0, 4), 16)),
    )
  return protocol === 'version=2'
    ? advertisement
    : Buffer.concat([formatServiceHeader(service), advertisement])
}

const formatPktLine = (content: string): string =>
  `${(Buffer.byteLength(content) + 4).toString(16).padStart(4, '0')}${content}`
const formatServiceHeader = (service: string): Buffer =>
  Buffer.from(`${formatPktLine(`# service=git-${service}\n`)}0000`)

/** The refs as receive-pack advertises them, without the read-only refs. */
async function advertisePushRefs(path: string, can: Buffer, protocol: string): Promise<Buffer> {
  const refs = [...(await readRefs(path, ['refs/']))].filter(([ref]) => !ref.startsWith('refs/pull/'))
  const lines =
    refs.length > 0 ? refs.map(([ref, id]) => `${id} ${ref}`) : [`${'0'.repeat(40)} capabilities^{}`]
  const packets = lines.map((line, at) =>
    formatPktLine(`${line}${at === 0 ? can.toString().replace(/\n$/, '') : ''}\n`),
  )
  const pktLines = Buffer.from(`${packets.join('')}0000`)
  return protocol === 'version=2' ? pktLines : Buffer.concat([formatServiceHeader('receive-pack'), pktLines])
}

async function runGitProgram(
  program: string,
  args: readonly string[],
  { protocol, body, environment }: Pick<GitHttpRequest, 'protocol' | 'body' | 'environment'>,
): Promise<Buffer> {
  return (await runInIsolatedGitEnvironment(program, args, body, { ...environment, GIT_PROTOCOL: protocol }))
    .stdout
}

// Directly, and not as `git http-backend`, which would start another process for each request.
const findGitHttpBackendPath = memoizeOnce(() =>
  join(execFileSync('git', ['--exec-path'], { encoding: 'utf8' }).trim(), 'git-http-backend'),
)

async function runHttpBackend(request: GitHttpRequest): Promise<GitHttpResponse> {
  const { path, method, service, query, contentType, user, environment } = request
  return parseCgiResponse(
    await runGitProgram(findGitHttpBackendPath(), [], {
      ...request,
      environment: {
        ...environment,
        GIT_PROJECT_ROOT: path,
        GIT_HTTP_EXPORT_ALL: '1',
        PATH_INFO: `/${service}`,
        QUERY_STRING: query,
        REQUEST_METHOD: method,
        CONTENT_TYPE: contentType,
        REMOTE_USER: user,
        REMOTE_ADDR: '127.0.0.1',
      },
    }),
  )
}

function parseCgiResponse(output: Buffer): GitHttpResponse {
  const end = output.indexOf('\r\n\r\n')
  if (end < 0) return { status: 500, headers: {}, body: Buffer.from('git http-backend gave no answer\n') }
  const headers: Record<string, string> = {}
  for (const line of output.subarray(0, end).toString().split('\r\n')) {
    const colon = line.indexOf(':')
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim()
  }
  const status = Number.parseInt(headers['status'] ?? '200', 10)
  delete headers['status']
  return { status, headers, body: output.subarray(end + 4) }
}
