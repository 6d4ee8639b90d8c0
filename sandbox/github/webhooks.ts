// Webhooks to the apps: signed and recorded. Tests can drop, duplicate, or hold them. Like GitHub, the sandbox does not
// redeliver automatically.
import { createHmac, randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { toAccountView, toOrganizationView, toNodeId } from './views/account-view.ts'
import { toRepositoryView } from './views/repository-view.ts'
import type {
  MockApp,
  Installation,
  GitHubPayload,
  MockRepository,
  MockGitHubData,
  WebhookSender,
} from './github-data.ts'

export interface WebhookDelivery {
  readonly id: number
  readonly guid: string
  readonly app: MockApp
  readonly event: string
  readonly action: string | null
  readonly installation: Installation
  readonly repo: MockRepository | null
  readonly payload: GitHubPayload
  readonly deliveredAt: string
  /** The receiver's answer, or 0 if there is no answer yet. */
  status: number
  seconds: number
}

export type WebhookDeliveryMatcher = (
  delivery: Pick<WebhookDelivery, 'event' | 'action' | 'payload' | 'guid'>,
) => boolean
type WebhookFaultAction = 'drop' | 'double' | 'hold'

interface WebhookFaultRule {
  readonly matches: WebhookDeliveryMatcher
  readonly treatment: WebhookFaultAction
  readonly held: WebhookDelivery[]
}

// GitHub waits ten seconds for a receiver.
const webhookDeliveryTimeoutMs = 10_000

export class WebhookDispatcher implements WebhookSender {
  readonly deliveries: WebhookDelivery[] = []
  /** Receives every payload when it is created. */
  observe: ((delivery: WebhookDelivery) => void) | undefined
  readonly #state: MockGitHubData
  readonly #target: () => string | undefined
  readonly #rules: WebhookFaultRule[] = []
  readonly #pending = new Set<Promise<void>>()
  #closed = false

  constructor(state: MockGitHubData, target: () => string | undefined) {
    this.#state = state
    this.#target = target
  }

  /** Sends a repository event to every app that is installed there and subscribed to the event. */
  readonly emit: WebhookSender['emit'] = (event, action, repo, sender, payload, only) => {
    for (const installation of this.#state.installations.values()) {
      const { app, suspendedAt, repositories } = installation
      if (suspendedAt !== null || !repositories.has(repo) || (only !== undefined && only !== app)) continue
      if (only === undefined && !app.events.includes(event)) continue
      this.emitTo(
        installation,
        event,
        action,
        sender,
        { ...payload, repository: toRepositoryView(repo) },
        repo,
      )
    }
  }

  /** Sends an event to one installation's app, even if it is not subscribed: installation events are always sent. */
  readonly emitTo: WebhookSender['emitTo'] = (installation, event, action, sender, payload, repo = null) => {
    const organization = installation.account.type === 'Organization' ? installation.account : undefined
    const delivery: WebhookDelivery = {
      id: this.#state.nextId(),
      guid: randomUUID(),
      app: installation.app,
      event,
      action,
      installation,
      repo,
      payload: {
        ...(action === null ? {} : { action }),
        ...payload,
        ...(organization && repo ? { organization: toOrganizationView(organization) } : {}),
        // A deleted account can still be the sender: GitHub then shows its placeholder, the user "ghost".
        sender: toAccountView(sender) ?? { login: 'ghost', id: 10137, type: 'User' },
        ...('installation' in payload
          ? {}
          : { installation: { id: installation.id, node_id: toNodeId('Installation', installation.id) } }),
      },
      deliveredAt: this.#state.timestamp(),
      status: 0,
      seconds: 0,
    }
    this.deliveries.push(delivery)
    this.observe?.(delivery)
    this.#treat(delivery)
  }

  #treat(delivery: WebhookDelivery): void {
    const rule = this.#rules.find((it) => it.matches(delivery))
    const treatment = rule?.treatment
    if (rule === undefined || treatment === undefined) return this.#send(delivery)
    if (treatment === 'drop') return
    if (treatment === 'hold') rule.held.push(delivery)
    else {
      this.#send(delivery)
      this.#send(delivery)
    }
  }

  #send(delivery: WebhookDelivery): void {
    const target = delivery.app.webhookTarget ?? this.#target()
    if (delivery.app.webhookTarget === null || target === undefined || this.#closed) return
    const sending = this.#post(delivery, target).finally(() => this.#pending.delete(sending))
    this.#pending.add(sending)
  }

  async #post(delivery: WebhookDelivery, target: string): Promise<void> {
    const body = Buffer.from(JSON.stringify(delivery.payload))
    const sign = (algorithm: string): string =>
      createHmac(algorithm, delivery.app.webhookSecret ?? '')
        .update(body)
        .digest('hex')
    const headers = {
      accept: '*/*',
      'content-type': 'application/json',
      'content-length': body.length,
      'user-agent': 'GitHub-Hookshot/sandbox',
      'x-github-delivery': delivery.guid,
      'x-github-event': delivery.event,
      'x-github-hook-id': String(delivery.app.id),
      'x-github-hook-installation-target-id': String(delivery.app.id),
      'x-github-hook-installation-target-type': 'integration',
      'x-hub-signature': `sha1=${sign('sha1')}`,
      'x-hub-signature-256': `sha256=${sign('sha256')}`,
    }
    const started = performance.now()
    await new Promise<void>((resolve) => {
      // A new connection, because a kept-alive connection can be closed just when it is reused.
      const options = { method: 'POST', headers, timeout: webhookDeliveryTimeoutMs, agent: false }
      const outgoing = request(target, options, (response) => {
        response.resume().on('close', () => {
          delivery.status = response.statusCode ?? 0
          resolve()
        })
      })
      outgoing.on('timeout', () => outgoing.destroy(new Error('no answer')))
      // An unavailable receiver is a normal case: the delivery remains without a status.
      outgoing.on('error', () => resolve())
      outgoing.end(body)
    })
    delivery.seconds = (performance.now() - started) / 1000
  }

  #rule(matches: WebhookDeliveryMatcher, treatment: WebhookFaultAction): () => void {
    const rule: WebhookFaultRule = { matches, treatment, held: [] }
    this.#rules.push(rule)
    return () => {
      const index = this.#rules.indexOf(rule)
      if (index >= 0) this.#rules.splice(index, 1)
      for (const late of rule.held.splice(0)) this.#send(late)
    }
  }

  /**
   * Matching deliveries are not sent, but remain in the list. Each of these methods returns a function that ends it.
   */
  drop(matches: WebhookDeliveryMatcher = () => true): () => void {
    return this.#rule(matches, 'drop')
  }
  double(matches: WebhookDeliveryMatcher = () => true): () => void {
    return this.#rule(matches, 'double')
  }
  /** Holds matching deliveries. The returned function sends them. */
  hold(matches: WebhookDeliveryMatcher = () => true): () => void {
    return this.#rule(matches, 'hold')
  }

  /** Resolves when no delivery is pending. Held and dropped ones do not count. */
  async settled(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending)
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.settled()
  }
}
