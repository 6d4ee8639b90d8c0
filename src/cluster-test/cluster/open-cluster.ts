// A cluster client over HTTP with limits. Failures are values. Import it only when needed: it loads slowly.
import { isJsonObject, tryParseJson } from '@catalog-bot/fbc/go/json/json'
import { request } from 'undici'
import type {
  ClusterAction,
  KubeQuery,
  RejectedClusterAction,
  KubeQueryResult,
  KubeObject,
} from '../../checks/install/cluster-test/kube-object.ts'
import { getStringAtPath, toKubeObjectQuery } from '../../checks/install/cluster-test/kube-object.ts'
import type { Clock } from '../../ports/clock.ts'
import { type KubeClusterClient, ClusterError } from './cluster.ts'
import { loadClusterConnection, type ClusterConnection, type KubeconfigOptions } from './kubeconfig.ts'

interface KubeApiResponse {
  readonly status: number
  readonly text: string
}

interface ApiResource {
  readonly plural: string
  readonly isNamespaced: boolean
}

/** Milliseconds per request. */
const kubeRequestTimeoutMs = 15_000
/** Limit for one response. Lists of pods and ClusterServiceVersions are large. */
const maxKubeResponseBytes = 32 * 1024 * 1024
const kubeListPageSize = 250
/** Pages per list. An install test never needs more. */
const maxKubeListPages = 20
/** The longest pause that the API can request, in milliseconds. */
const maxRetryAfterMs = 20_000
const maxContainerLogLines = 200
const maxContainerLogBytes = 128 * 1024
const kubeFieldManager = 'catalog-bot'

export interface KubeClusterClientOptions extends KubeconfigOptions {
  readonly clock: Clock
}

/** Sends no request yet. @throws ClusterError if the kubeconfig cannot be used */
export async function createKubeClusterClient(options: KubeClusterClientOptions): Promise<KubeClusterClient> {
  return new HttpKubeClusterClient(options, await loadClusterConnection(options))
}

class HttpKubeClusterClient implements KubeClusterClient {
  readonly #clock: Clock
  readonly #connection: ClusterConnection
  readonly #resources = new Map<string, ApiResource>()
  /** When a busy API accepts the next request. */
  #notBefore = 0

  constructor({ clock }: KubeClusterClientOptions, connection: ClusterConnection) {
    this.#clock = clock
    this.#connection = connection
  }

  readonly discover: KubeClusterClient['discover'] = async () => {
    const [version, groups] = [
      await this.#sendRequest('GET', '/version'),
      await this.#sendRequest('GET', '/apis'),
    ]
    for (const answer of [version, groups]) {
      if (answer.status === 401 || answer.status === 403)
        throw new ClusterError(
          'unauthorized',
          `the cluster rejected the kubeconfig credentials: ${extractKubeErrorMessage(answer)}`,
        )
      if (answer.status !== 200)
        throw new ClusterError(
          'unreachable',
          `the Kubernetes API does not respond: ${extractKubeErrorMessage(answer)}`,
        )
    }
    return {
      version: getStringAtPath(parseJsonObject(version.text), 'gitVersion') || 'unknown',
      groupVersions: parseGroupVersions(groups.text),
    }
  }

  readonly read: KubeClusterClient['read'] = async (objectQuery) => {
    const resource = await this.#resolveResource(objectQuery)
    if ('kind' in resource) return resource
    if (objectQuery.name === undefined) return this.#list(objectQuery, resource)
    const answer = await this.#sendRequest('GET', toKubeResourcePath(objectQuery, resource))
    if (answer.status === 404) return this.#forgetResource(objectQuery)
    if (answer.status !== 200) return toFailedKubeQueryResult(answer)
    const object = parseKubeObject(parseJsonObject(answer.text))
    return object ? { kind: 'found', objects: [object] } : invalidKubeResponseResult
  }

  readonly perform: KubeClusterClient['perform'] = async (action) => {
    const objectQuery = action.kind === 'create' ? toKubeObjectQuery(action.object) : action.at
    const resource = await this.#resolveResource(objectQuery)
    if ('kind' in resource)
      return toRejectedClusterAction(
        action,
        resource.kind === 'failed'
          ? { status: 0, text: JSON.stringify({ message: resource.says }) }
          : { status: 404, text: '{"message":"the cluster does not serve this API"}' },
      )
    const answer = await this.#sendAction(action, objectQuery, resource)
    if (answer.status >= 200 && answer.status < 300) return undefined
    // The object is already gone.
    if (action.kind === 'delete' && answer.status === 404) return undefined
    return toRejectedClusterAction(action, answer)
  }

  readonly log: KubeClusterClient['log'] = async ({ namespace, pod, container, previous }) => {
    const query = new URLSearchParams({
      container,
      tailLines: String(maxContainerLogLines),
      limitBytes: String(maxContainerLogBytes),
      previous: String(previous),
    })
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}/log`
    const answer = await this.#sendRequest(
      'GET',
      `${path}?${query.toString()}`,
      undefined,
      2 * maxContainerLogBytes,
    )
    return answer.status === 200 ? answer.text : ''
  }

  readonly close: KubeClusterClient['close'] = () => this.#connection.close()

  async #list(objectQuery: KubeQuery, resource: ApiResource): Promise<KubeQueryResult> {
    const objects: KubeObject[] = []
    let next = ''
    for (let pages = 0; pages < maxKubeListPages; pages++) {
      const query = new URLSearchParams({ limit: String(kubeListPageSize), timeoutSeconds: '10' })
      if (objectQuery.labels !== undefined) query.set('labelSelector', objectQuery.labels)
      if (next !== '') query.set('continue', next)
      const answer = await this.#sendRequest(
        'GET',
        `${toKubeResourcePath(objectQuery, resource)}?${query.toString()}`,
      )
      // The continue token of the list expired. The next read starts over.
      if (answer.status === 410)
        return { kind: 'failed', code: 'unreachable', says: 'the list changed while it was being read' }
      if (answer.status === 404) return this.#forgetResource(objectQuery)
      if (answer.status !== 200) return toFailedKubeQueryResult(answer)
      const body = parseJsonObject(answer.text)
      if (!Array.isArray(body?.['items'])) return invalidKubeResponseResult
      for (const one of body['items'] as readonly unknown[]) {
        // Items of lists lack apiVersion and kind.
        const object = parseKubeObject({
          apiVersion: objectQuery.apiVersion,
          kind: objectQuery.kind,
          ...(one as object),
        })
        if (object) objects.push(object)
      }
      next = String((body['metadata'] as { readonly continue?: string } | undefined)?.continue ?? '')
      if (next === '') return { kind: 'found', objects }
    }
    // An unread page might contain the object that matters.
    return {
      kind: 'failed',
      code: 'unreachable',
      says: `there are more than ${kubeListPageSize * maxKubeListPages} ${objectQuery.kind} objects`,
    }
  }

  async #resolveResource({ apiVersion, kind }: KubeQuery): Promise<ApiResource | KubeQueryResult> {
    const key = `${apiVersion} ${kind}`
    const known = this.#resources.get(key)
    if (known) return known
    const answer = await this.#sendRequest('GET', toKubeApiPath(apiVersion))
    if (answer.status === 404) return { kind: 'no-api' }
    if (answer.status !== 200) return toFailedKubeQueryResult(answer)
    const list = parseJsonObject(answer.text)?.['resources']
    for (const one of Array.isArray(list) ? (list as readonly Readonly<Record<string, unknown>>[]) : []) {
      const { name, kind: its, namespaced } = one
      if (typeof name === 'string' && typeof its === 'string' && !name.includes('/'))
        this.#resources.set(`${apiVersion} ${its}`, { plural: name, isNamespaced: namespaced === true })
    }
    return this.#resources.get(key) ?? { kind: 'no-api' }
  }

  /** Discards the cached discovery, because the cluster might no longer serve the API. */
  #forgetResource({ apiVersion, kind }: KubeQuery): KubeQueryResult {
    this.#resources.delete(`${apiVersion} ${kind}`)
    return { kind: 'found', objects: [] }
  }

  #sendAction(
    action: ClusterAction,
    objectQuery: KubeQuery,
    resource: ApiResource,
  ): Promise<KubeApiResponse> {
    switch (action.kind) {
      case 'create': {
        const { name: _, ...location } = objectQuery
        return this.#sendRequest(
          'POST',
          `${toKubeResourcePath(location, resource)}${toQueryString(action)}`,
          action.object,
        )
      }
      case 'patch':
        return this.#sendRequest(
          'PATCH',
          `${toKubeResourcePath(objectQuery, resource)}${toQueryString(action)}`,
          action.patch,
        )
      case 'delete':
        return this.#sendRequest('DELETE', toKubeResourcePath(objectQuery, resource), {
          apiVersion: 'v1',
          kind: 'DeleteOptions',
          propagationPolicy: 'Background',
          ...(action.uid !== undefined && { preconditions: { uid: action.uid } }),
        })
    }
  }

  async #sendRequest(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
    limit = maxKubeResponseBytes,
  ): Promise<KubeApiResponse> {
    const pause = this.#notBefore - this.#clock.now()
    if (pause > 0) await this.#clock.sleep(Math.min(pause, maxRetryAfterMs))
    try {
      const response = await request(`${this.#connection.server}${path}`, {
        method,
        headers: {
          ...(await this.#connection.headers()),
          accept: 'application/json',
          'user-agent': 'catalog-bot',
          ...(body !== undefined && {
            'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
          }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(this.#connection.dispatcher && { dispatcher: this.#connection.dispatcher }),
        signal: AbortSignal.timeout(kubeRequestTimeoutMs),
      })
      const { statusCode: status, headers } = response
      if (status === 429 || status === 503)
        this.#notBefore = this.#clock.now() + parseRetryAfterSeconds(headers['retry-after']) * 1000
      return { status, text: await readResponseBodyText(response.body, limit) }
    } catch (error) {
      if (error instanceof ClusterError && error.code === 'kubeconfig') throw error
      return { status: 0, text: JSON.stringify({ message: formatNetworkError(error) }) }
    }
  }
}

function toKubeResourcePath(
  { apiVersion, namespace, name }: KubeQuery,
  { plural, isNamespaced }: ApiResource,
): string {
  const within = isNamespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : ''
  return `${toKubeApiPath(apiVersion)}${within}/${plural}${name === undefined ? '' : `/${encodeURIComponent(name)}`}`
}

function parseGroupVersions(text: string): readonly string[] {
  const found = parseJsonObject(text)?.['groups']
  return (Array.isArray(found) ? (found as readonly unknown[]) : []).flatMap((group) => {
    const versions = (group as { readonly versions?: unknown } | null)?.versions
    return Array.isArray(versions)
      ? (versions as readonly { readonly groupVersion?: unknown }[]).flatMap(({ groupVersion }) =>
          typeof groupVersion === 'string' ? [groupVersion] : [],
        )
      : []
  })
}

const toQueryString = ({ dryRun }: { readonly dryRun?: true }): string =>
  `?fieldManager=${kubeFieldManager}${dryRun ? '&dryRun=All' : ''}`

const invalidKubeResponseResult: KubeQueryResult = {
  kind: 'failed',
  code: 'unreachable',
  says: 'the response is invalid',
}

function toFailedKubeQueryResult(answer: KubeApiResponse): KubeQueryResult {
  const code = answer.status === 401 || answer.status === 403 ? 'forbidden' : 'unreachable'
  return { kind: 'failed', code, says: extractKubeErrorMessage(answer) }
}

function toRejectedClusterAction(action: ClusterAction, answer: KubeApiResponse): RejectedClusterAction {
  return {
    action,
    status: answer.status,
    reason: getStringAtPath(parseJsonObject(answer.text), 'reason'),
    says: extractKubeErrorMessage(answer),
  }
}

function extractKubeErrorMessage({ status, text }: KubeApiResponse): string {
  const message = parseJsonObject(text)?.['message']
  const reason = typeof message === 'string' && message !== '' ? message : 'no reason given'
  return status === 0 ? reason : `${reason} (${status})`
}

function toKubeApiPath(apiVersion: string): string {
  return apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
}

function parseJsonObject(text: string): Readonly<Record<string, unknown>> | undefined {
  const value = tryParseJson(text)
  return isJsonObject(value) ? value : undefined
}

/** Returns undefined for a value without a name. */
function parseKubeObject(value: unknown): KubeObject | undefined {
  const metadata = (value as { readonly metadata?: { readonly name?: unknown } } | undefined)?.metadata
  return typeof metadata?.name === 'string' ? (value as KubeObject) : undefined
}

async function readResponseBodyText(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of body) {
    size += part.length
    if (size > maxBytes) throw new Error('the response is too large')
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

function parseRetryAfterSeconds(header: string | string[] | undefined): number {
  const seconds = Number(Array.isArray(header) ? header[0] : header)
  return Number.isFinite(seconds) && seconds > 0 ? seconds : 1
}

/** Network errors are reported by code, because their messages contain addresses. */
function formatNetworkError(error: unknown): string {
  const { code, name, cause } = error as {
    readonly code?: string
    readonly name?: string
    readonly cause?: { readonly code?: string }
  }
  if (name === 'TimeoutError') return 'the request timed out'
  return (
    code ??
    cause?.code ??
    (error instanceof Error && error.message === 'the response is too large'
      ? error.message
      : 'the connection failed')
  )
}
