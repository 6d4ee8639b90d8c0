// Two scripted registries and a clock for each test, which are closed after it.
import { afterEach, beforeEach } from '@jest/globals'
import {
  HttpRegistryClient,
  type RegistryClientOptions,
} from '../../../src/adapters/registry/open-registry.ts'
import type { RegistryClient } from '../../../src/adapters/registry/registry-client.ts'
import { allowLoopbackRegistries } from '../../../src/adapters/registry/transport/egress-policy.ts'
import { createManualClock, type ManualClock } from './manual-clock.ts'
import { startScriptedRegistry, type ScriptedRegistry } from './scripted-registry.ts'

export let registryServer: ScriptedRegistry
/** The token service, blob store, or single sign-on host, if it differs from the registry. */
export let secondRegistryServer: ScriptedRegistry
export let clock: ManualClock
const openedByTest: { close(): Promise<unknown> }[] = []

/** For each test file that uses them, because the files of a worker share this module. */
export function startRegistriesBeforeEach(): void {
  beforeEach(async () => {
    registryServer = await startScriptedRegistry()
    secondRegistryServer = await startScriptedRegistry()
    clock = createManualClock()
  })
  afterEach(async () => {
    const opened = [...openedByTest.splice(0), registryServer, secondRegistryServer]
    await Promise.all(opened.map((one) => one.close()))
  })
}

export function closeAfterTest<T extends { close(): Promise<unknown> }>(opened: T): T {
  openedByTest.push(opened)
  return opened
}

export const createTestRegistryClient = (options: Partial<RegistryClientOptions> = {}): RegistryClient =>
  closeAfterTest(
    new HttpRegistryClient({
      clock,
      egress: allowLoopbackRegistries(registryServer.host, secondRegistryServer.host),
      random: () => 0,
      ...options,
    }),
  )
export const formatTestImageReference = (rest: string) => `${registryServer.host}/${rest}`
/** Resolves an image of the test registry with a new client. */
export const resolveImage = (image: string, options?: Partial<RegistryClientOptions>) =>
  createTestRegistryClient(options).resolve(formatTestImageReference(image))
