// A cluster over HTTP with time and size limits; failures are values. Import it only when needed, because the
// kubeconfig library loads slowly.
import { request } from 'undici'
import type {
  Action,
  Look,
  RefusedAction,
  Sighting,
  KubeObject,
} from '../checks/install/trial/kube-object.ts'
import { textAt } from '../checks/install/trial/kube-object.ts'
import type { Clock } from '../ports/clock.ts'
import type { Cluster } from './cluster.ts'
import { ClusterError } from './cluster-error.ts'
import { openConnection, type KubeconfigOptions } from './kubeconfig.ts'

interface Answer {
  readonly status: number
  readonly text: string
}

interface Resource {
  readonly plural: string
  readonly isNamespaced: boolean
}

/** Milliseconds per request. */
const patience = 15_000
/** Limit for one answer; lists of pods and ClusterServiceVersions are large. */
const mostBytes = 32 * 1024 * 1024
const page = 250
/** Pages per list; a trial never needs more. */
const mostPages = 20
/** Longest pause in milliseconds that the API can request. */
const longestPause = 20_000
const logLines = 200
const logBytes = 128 * 1024
const fieldManager = 'catalog-bot'

export interface ClusterOptions extends KubeconfigOptions {
  readonly clock: Clock
  readonly patience?: number
}

/** Sends no request yet. @throws ClusterError if the kubeconfig cannot be used */
export async function openCluster(options: ClusterOptions): Promise<Cluster> {
  const { clock } = options
  const connection = await openConnection(options)
  const resources = new Map<string, Resource>()
  /** When a busy API accepts the next request. */
  let notBefore = 0

  async function ask(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
    limit = mostBytes,
  ): Promise<Answer> {
    const pause = notBefore - clock.now()
    if (pause > 0) await clock.sleep(Math.min(pause, longestPause))
    try {
      const response = await request(`${connection.server}${path}`, {
        method,
        headers: {
          ...(await connection.headers()),
          accept: 'application/json',
          'user-agent': 'catalog-bot',
          ...(body !== undefined && {
            'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
          }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(connection.dispatcher && { dispatcher: connection.dispatcher }),
        signal: AbortSignal.timeout(options.patience ?? patience),
      })
      const { statusCode: status, headers } = response
      if (status === 429 || status === 503) notBefore = clock.now() + secondsOf(headers['retry-after']) * 1000
      return { status, text: await readText(response.body, limit) }
    } catch (error) {
      if (error instanceof ClusterError && error.code === 'kubeconfig') throw error
      return { status: 0, text: JSON.stringify({ message: wordsOf(error) }) }
    }
  }

  async function resourceOf({
    apiVersion,
    kind,
  }: Pick<Look, 'apiVersion' | 'kind'>): Promise<Resource | Sighting> {
    const key = `${apiVersion} ${kind}`
    const known = resources.get(key)
    if (known) return known
    const answer = await ask('GET', groupPath(apiVersion))
    if (answer.status === 404) return { kind: 'no-api' }
    if (answer.status !== 200) return failedLook(answer)
    const list = objectIn(answer.text)?.['resources']
    for (const one of Array.isArray(list) ? (list as readonly Readonly<Record<string, unknown>>[]) : []) {
      const { name, kind: its, namespaced } = one
      if (typeof name === 'string' && typeof its === 'string' && !name.includes('/'))
        resources.set(`${apiVersion} ${its}`, { plural: name, isNamespaced: namespaced === true })
    }
    return resources.get(key) ?? { kind: 'no-api' }
  }

  function pathOf({ apiVersion, namespace, name }: Look, { plural, isNamespaced }: Resource): string {
    const within =
      isNamespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : ''
    return `${groupPath(apiVersion)}${within}/${plural}${name === undefined ? '' : `/${encodeURIComponent(name)}`}`
  }

  async function list(look: Look, resource: Resource): Promise<Sighting> {
    const objects: KubeObject[] = []
    let next = ''
    for (let pages = 0; pages < mostPages; pages++) {
      const query = new URLSearchParams({ limit: String(page), timeoutSeconds: '10' })
      if (look.labels !== undefined) query.set('labelSelector', look.labels)
      if (next !== '') query.set('continue', next)
      const answer = await ask('GET', `${pathOf(look, resource)}?${query.toString()}`)
      // The list's continue token expired; the next look starts again.
      if (answer.status === 410)
        return { kind: 'failed', code: 'unreachable', says: 'the list changed while it was read' }
      if (answer.status === 404) return forget(look)
      if (answer.status !== 200) return failedLook(answer)
      const body = objectIn(answer.text)
      if (!Array.isArray(body?.['items'])) return unreadable
      for (const one of body['items'] as readonly unknown[]) {
        // Items of lists lack apiVersion and kind.
        const object = asObject({ apiVersion: look.apiVersion, kind: look.kind, ...(one as object) })
        if (object) objects.push(object)
      }
      next = String((body['metadata'] as { readonly continue?: string } | undefined)?.continue ?? '')
      if (next === '') return { kind: 'found', objects }
    }
    // An unread page may contain the object that matters.
    return {
      kind: 'failed',
      code: 'unreachable',
      says: `there are more than ${page * mostPages} ${look.kind} objects`,
    }
  }

  /** Drops the cached discovery, because the cluster may have lost the API. */
  function forget({ apiVersion, kind }: Look): Sighting {
    resources.delete(`${apiVersion} ${kind}`)
    return { kind: 'found', objects: [] }
  }

  return {
    async discover() {
      const [version, groups] = [await ask('GET', '/version'), await ask('GET', '/apis')]
      for (const answer of [version, groups]) {
        if (answer.status === 401 || answer.status === 403)
          throw new ClusterError(
            'unauthorized',
            `the cluster does not accept the kubeconfig's account: ${messageIn(answer)}`,
          )
        if (answer.status !== 200)
          throw new ClusterError('unreachable', `the cluster's API does not answer: ${messageIn(answer)}`)
      }
      const found = objectIn(groups.text)?.['groups']
      const groupVersions = (Array.isArray(found) ? (found as readonly unknown[]) : []).flatMap((group) => {
        const versions = (group as { readonly versions?: unknown } | null)?.versions
        return Array.isArray(versions)
          ? (versions as readonly { readonly groupVersion?: unknown }[]).flatMap(({ groupVersion }) =>
              typeof groupVersion === 'string' ? [groupVersion] : [],
            )
          : []
      })
      return { version: textAt(objectIn(version.text), 'gitVersion') || 'unknown', groupVersions }
    },

    async look(look) {
      const resource = await resourceOf(look)
      if ('kind' in resource) return resource
      if (look.name === undefined) return list(look, resource)
      const answer = await ask('GET', pathOf(look, resource))
      if (answer.status === 404) return forget(look)
      if (answer.status !== 200) return failedLook(answer)
      const object = asObject(objectIn(answer.text))
      return object ? { kind: 'found', objects: [object] } : unreadable
    },

    async act(action) {
      const look = action.kind === 'create' ? lookOfObject(action.object) : action.at
      const resource = await resourceOf(look)
      if ('kind' in resource)
        return refused(
          action,
          resource.kind === 'failed'
            ? { status: 0, text: JSON.stringify({ message: resource.says }) }
            : { status: 404, text: '{"message":"the cluster has no such API"}' },
        )
      const answer = await send(action, look, resource)
      if (answer.status >= 200 && answer.status < 300) return undefined
      // The object is already gone.
      if (action.kind === 'delete' && answer.status === 404) return undefined
      return refused(action, answer)
    },

    async log({ namespace, pod, container, previous }) {
      const query = new URLSearchParams({
        container,
        tailLines: String(logLines),
        limitBytes: String(logBytes),
        previous: String(previous),
      })
      const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}/log`
      const answer = await ask('GET', `${path}?${query.toString()}`, undefined, 2 * logBytes)
      return answer.status === 200 ? answer.text : ''
    },

    close: () => connection.close(),
  }

  function send(action: Action, look: Look, resource: Resource): Promise<Answer> {
    switch (action.kind) {
      case 'create': {
        const { name: _, ...place } = look
        return ask('POST', `${pathOf(place, resource)}${queryOf(action)}`, action.object)
      }
      case 'patch':
        return ask('PATCH', `${pathOf(look, resource)}${queryOf(action)}`, action.patch)
      case 'delete':
        return ask('DELETE', pathOf(look, resource), {
          apiVersion: 'v1',
          kind: 'DeleteOptions',
          propagationPolicy: 'Background',
          ...(action.uid !== undefined && { preconditions: { uid: action.uid } }),
        })
    }
  }
}

const queryOf = ({ dryRun }: { readonly dryRun?: true }): string =>
  `?fieldManager=${fieldManager}${dryRun ? '&dryRun=All' : ''}`

const unreadable: Sighting = { kind: 'failed', code: 'unreachable', says: 'its answer cannot be read' }

function failedLook(answer: Answer): Sighting {
  const code = answer.status === 401 || answer.status === 403 ? 'forbidden' : 'unreachable'
  return { kind: 'failed', code, says: messageIn(answer) }
}

function refused(action: Action, answer: Answer): RefusedAction {
  return {
    action,
    status: answer.status,
    reason: textAt(objectIn(answer.text), 'reason'),
    says: messageIn(answer),
  }
}

function messageIn({ status, text }: Answer): string {
  const message = objectIn(text)?.['message']
  const words = typeof message === 'string' && message !== '' ? message : 'no reason is given'
  return status === 0 ? words : `${words} (${status})`
}

function groupPath(apiVersion: string): string {
  return apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
}

function lookOfObject({ apiVersion, kind, metadata: { namespace, name } }: KubeObject): Look {
  return { apiVersion, kind, name, ...(namespace !== undefined && { namespace }) }
}

function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined
  } catch {
    return undefined
  }
}

/** Undefined for anything without a name. */
function asObject(value: unknown): KubeObject | undefined {
  const metadata = (value as { readonly metadata?: { readonly name?: unknown } } | undefined)?.metadata
  return typeof metadata?.name === 'string' ? (value as KubeObject) : undefined
}

async function readText(body: AsyncIterable<Uint8Array>, most: number): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of body) {
    size += part.length
    if (size > most) throw new Error('its answer is too large')
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

function secondsOf(header: string | string[] | undefined): number {
  const seconds = Number(Array.isArray(header) ? header[0] : header)
  return Number.isFinite(seconds) && seconds > 0 ? seconds : 1
}

/** Network errors are reported by code, because their messages contain addresses. */
function wordsOf(error: unknown): string {
  const { code, name, cause } = error as {
    readonly code?: string
    readonly name?: string
    readonly cause?: { readonly code?: string }
  }
  if (name === 'TimeoutError') return 'no answer in time'
  return (
    code ??
    cause?.code ??
    (error instanceof Error && error.message === 'its answer is too large'
      ? error.message
      : 'the connection failed')
  )
}
