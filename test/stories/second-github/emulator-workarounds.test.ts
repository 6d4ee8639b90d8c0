// emulate alone: it still has every gap that the story in this directory fills. Remove a gap from emulator-workarounds.ts when emulate
// has closed it.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createEmulator, type Emulator } from 'emulate'
import { signJwt } from '../../sandbox/github/github-fixture.ts'
import {
  createEmulatorWorkarounds,
  type UnpatchedEmulatorServer,
  type EmulatorWebhookDelivery,
  type EmulatorWorkaroundContext,
} from './emulator-workarounds.ts'
import type { AuthenticatedRequestSender } from './served-git.ts'
import { findFreePort } from '../../../scripts/free-port.ts'

const repositoryName = 'coast/operators'
// The probes need none of the replacements.
const emulatorWorkarounds = createEmulatorWorkarounds({} as EmulatorWorkaroundContext)

describe('what emulate lacks', () => {
  let emulate: Emulator
  let bare: UnpatchedEmulatorServer
  const deliveries: EmulatorWebhookDelivery[] = []
  const receiver = createServer((request, response) => {
    const delivery = {
      event: String(request.headers['x-github-event']),
      id: String(request.headers['x-github-delivery']),
    }
    deliveries.push({ ...delivery, payload: {} })
    request.resume()
    response.end()
  })

  beforeAll(async () => {
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    const hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
    const port = await findFreePort()
    const permissions = { contents: 'write', pull_requests: 'write', issues: 'write', checks: 'write' }
    emulate = await createEmulator({
      service: 'github',
      port,
      seed: {
        tokens: { person: { login: 'harbormaster', scopes: ['repo'] } },
        github: {
          users: [{ login: 'harbormaster' }, { login: 'mallory' }],
          orgs: [{ login: 'coast', members: [{ login: 'harbormaster', role: 'admin' }] }],
          repos: [{ owner: 'coast', name: 'operators' }],
          apps: [
            {
              app_id: 1,
              slug: 'probe',
              name: 'probe',
              permissions,
              events: ['pull_request', 'issue_comment'],
              webhook_url: hook,
              installations: [{ installation_id: 2, account: 'coast', repository_selection: 'all' }],
            },
          ],
        },
      },
    })
    const ask: AuthenticatedRequestSender = async (token, method, path, body) => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        headers: {
          'content-type': 'application/json',
          ...(token !== '' && { authorization: `token ${token}` }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const text = await answer.text()
      return { status: answer.status, data: /^[[{]/.test(text) ? (JSON.parse(text) as unknown) : text }
    }
    const key = emulate.generatedSecrets[0]?.value ?? ''
    const { data } = await ask(signJwt({ iss: 1 }, key), 'POST', '/app/installations/2/access_tokens', {})
    const bot = {
      repository: repositoryName,
      outsider: 'mallory',
      person: 'person',
      installation: (data as { token: string }).token,
      ask,
      deliveries,
    }
    const main = await ask('person', 'GET', `/repos/${repositoryName}/git/ref/heads/main`)
    const head = (main.data as { object: { sha: string } }).object.sha
    await ask('person', 'POST', `/repos/${repositoryName}/git/refs`, { ref: 'refs/heads/topic', sha: head })
    const pull = { title: 'probe', head: 'topic', base: 'main' }
    const opened = await ask('person', 'POST', `/repos/${repositoryName}/pulls`, pull)
    bare = { ...bot, head, pull: (opened.data as { number: number }).number }
  })

  afterAll(async () => {
    await emulate?.close()
    receiver.closeAllConnections()
    await new Promise((resolve) => receiver.close(resolve))
  })

  test.each(emulatorWorkarounds.map((gap) => [gap.name, gap] as const))('%s', async (_, gap) => {
    expect(await gap.isThere(bare)).toBe(true)
  })

  test('each has a unique name and a sentence', () => {
    for (const { sentence } of emulatorWorkarounds) expect(sentence).toMatch(/^[A-Z].{20,}\.$/)
    expect(new Set(emulatorWorkarounds.map(({ name }) => name)).size).toBe(emulatorWorkarounds.length)
  })
})
