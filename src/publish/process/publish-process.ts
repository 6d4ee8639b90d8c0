// The process with push credentials: one order at a time for one repository, decided elsewhere.
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { RegistryCatalogPublisher } from '../../adapters/image/open-catalog-publisher.ts'
import { RegistryImagePusher } from '../../adapters/image/open-pusher.ts'
import {
  loadCredentialFile,
  createDockerConfigCredentials,
  parseDockerConfig,
} from '../../adapters/registry/auth/credential-files.ts'
import type { CredentialSource } from '../../adapters/registry/auth/credentials.ts'
import { HttpRegistryClient } from '../../adapters/registry/open-registry.ts'
import { readRegistryTransportOptions } from '../../adapters/registry/registry-access.ts'
import { RegistryTransport } from '../../adapters/registry/transport/transport.ts'
import { systemClock } from '../../adapters/system-clock.ts'
import {
  serveWorkerRequests,
  type ParentProcessRequestSender,
  preventPrototypePollution,
} from '../../adapters/workers/answer-orders.ts'
import { readPackageVersion } from '../../adapters/package-metadata.ts'
import { handlePublishRequest } from './publish-handler.ts'
import {
  type PublishContext,
  type PublishRegistryContext,
  createSigningKeyLoader,
} from './publish-context.ts'
import { parsePushTargets, type PushTarget } from './push-targets.ts'
import type { PublishIntentDecision, PublishResponse, PublishRequest } from './publish-protocol.ts'
import { createReadOnlyMirrorOpener } from '../../adapters/git/mirror.ts'

const processEnvironment = process.env
const pushCredentialsFromEnv = processEnvironment['PUBLISH_CREDENTIALS']
const signingKeyPassword = processEnvironment['PUBLISH_KEY_PASSWORD']
// Child processes (git, credential helpers) inherit this environment.
delete processEnvironment['PUBLISH_CREDENTIALS']
delete processEnvironment['PUBLISH_KEY_PASSWORD']
const pushTargetsFilePath = processEnvironment['PUBLISH_TARGETS'] ?? ''
const openReadOnlyGitMirror = createReadOnlyMirrorOpener()

interface LoadedPublishContext {
  /** Compared on each order, so that a changed list takes effect. */
  readonly text: string
  readonly ctx: PublishContext
}
let loadedPublishContext: Promise<LoadedPublishContext> | undefined

async function loadPublishContext(): Promise<PublishContext> {
  const text = pushTargetsFilePath === '' ? '' : await readFile(pushTargetsFilePath, 'utf8')
  const known = await loadedPublishContext?.catch(() => undefined)
  if (known?.text === text) return known.ctx
  loadedPublishContext = createPublishContext(text)
  return (await loadedPublishContext).ctx
}

async function createPublishContext(text: string): Promise<LoadedPublishContext> {
  const targets = parsePushTargets(text)
  const insecure = (processEnvironment['INSECURE_REGISTRIES'] ?? '').split(',').filter((host) => host !== '')
  const transportConfig = await readRegistryTransportOptions(processEnvironment, insecure)
  const registryContexts = new Map<number, Promise<PublishRegistryContext>>()
  const ctx: PublishContext = {
    targets,
    registryFor: (at) => {
      const known = registryContexts.get(at)
      if (known !== undefined) return known
      const made = createRegistryContext(targets[at], transportConfig)
      registryContexts.set(at, made)
      made.catch(() => registryContexts.delete(at))
      return made
    },
    mirrorAt: openReadOnlyGitMirror,
    secretOf: async (file) => (await readFile(resolve(dirname(pushTargetsFilePath), file), 'utf8')).trim(),
    transport: new RegistryTransport({ egress: transportConfig.egress }),
    // Registries on this machine count as internal.
    closedHosts: [...transportConfig.closedHosts, ...insecure].map((host) => host.trim().toLowerCase()),
    now: () => Date.now(),
    version: readPackageVersion(),
  }
  return { text, ctx }
}

async function createRegistryContext(
  target: PushTarget | undefined,
  transportConfig: Awaited<ReturnType<typeof readRegistryTransportOptions>>,
): Promise<PublishRegistryContext> {
  const credentials: readonly CredentialSource[] = await readPushCredentials(target)
  const access = { clock: systemClock, ...transportConfig, credentials }
  const registry = new HttpRegistryClient(access)
  // Mirrors may lag behind on new tags and on tags that still use an image to remove, so none is asked.
  const published = new HttpRegistryClient({ ...access, rules: [] })
  const pusher = new RegistryImagePusher(access)
  const publisher = new RegistryCatalogPublisher({ registry, published, pusher })
  const bases = new RegistryCatalogPublisher({ registry, pusher })
  const keyFile = target?.signingKey
  const key =
    keyFile === undefined
      ? undefined
      : createSigningKeyLoader(resolve(dirname(pushTargetsFilePath), keyFile), signingKeyPassword)
  return {
    publisher,
    registry: published,
    digestOfBase: (base) => bases.digestOf(base),
    signingKey: async () => key?.(),
    signPlatforms: target?.signPlatforms,
  }
}

async function readPushCredentials(target: PushTarget | undefined): Promise<readonly CredentialSource[]> {
  if (target?.credentials !== undefined)
    return [await loadCredentialFile(resolve(dirname(pushTargetsFilePath), target.credentials))]
  if (pushCredentialsFromEnv === undefined) return []
  return [createDockerConfigCredentials(parseDockerConfig(pushCredentialsFromEnv, 'PUBLISH_CREDENTIALS'))]
}

async function handlePublishProcessRequest(
  order: PublishRequest,
  callBack: ParentProcessRequestSender,
): Promise<PublishResponse> {
  let ctx: PublishContext
  try {
    ctx = await loadPublishContext()
  } catch (error) {
    return { kind: 'failed', why: error instanceof Error ? error.message : String(error), retryable: true }
  }
  return handlePublishRequest(
    order,
    ctx,
    async (intending) => (await callBack(intending)) as PublishIntentDecision,
  )
}

preventPrototypePollution()
serveWorkerRequests(handlePublishProcessRequest)
