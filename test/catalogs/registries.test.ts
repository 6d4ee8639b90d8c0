// The registry access of the App: the time limit of one evaluation, regardless of what registries do.
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { createRegistryLookupService } from '../../src/catalogs/registries.ts'
import { systemClock } from '../../src/adapters/system-clock.ts'
import { noopCache } from '../../src/catalogs/memory-cache.ts'
import { startScriptedRegistry, type ScriptedRegistry } from '../adapters/registry/scripted-registry.ts'

let scriptedRegistry: ScriptedRegistry
beforeEach(async () => {
  scriptedRegistry = await startScriptedRegistry()
})
afterEach(() => scriptedRegistry.close())

const createTestEvaluationRegistries = (evaluationTime: number) =>
  createRegistryLookupService({
    clock: systemClock,
    store: noopCache,
    environment: {},
    insecure: [scriptedRegistry.host],
    evaluationTimeoutMs: evaluationTime,
  })

test('an evaluation ends in time with unknown answers even if a registry keeps sending 429', async () => {
  scriptedRegistry.script = (_, response) => void response.writeHead(429, { 'retry-after': '1' }).end()
  const registries = await createTestEvaluationRegistries(300)
  const askRegistries = registries.forEvaluation()
  const started = performance.now()
  const references = Array.from({ length: 40 }, (_, index) => `${scriptedRegistry.host}/a/b:${index}`)
  const answers = await Promise.all([
    ...references.map((reference) => askRegistries({ kind: 'image', reference })),
    askRegistries({ kind: 'bundle', reference: `${scriptedRegistry.host}/a/b@sha256:${'a'.repeat(64)}` }),
  ])
  expect(performance.now() - started).toBeLessThan(3000)
  expect(new Set(answers.map(({ kind }) => kind))).toEqual(new Set(['unknown']))
  const requestCount = scriptedRegistry.requests.length
  expect(await askRegistries({ kind: 'image', reference: `${scriptedRegistry.host}/a/c:1` })).toMatchObject({
    kind: 'unknown',
    reason: expect.stringContaining('are taking longer than 0.3 s'),
    retryAfter: 30,
  })
  expect(scriptedRegistry.requests).toHaveLength(requestCount)
  await registries.close()
})

test('another evaluation has its full time', async () => {
  scriptedRegistry.add('a/b', '2')
  scriptedRegistry.script = ({ path }) => path.endsWith('/1')
  const registries = await createTestEvaluationRegistries(300)
  const askForImage = (tag: string) =>
    registries.forEvaluation()({ kind: 'image', reference: `${scriptedRegistry.host}/a/b:${tag}` })
  expect(await askForImage('1')).toMatchObject({ kind: 'unknown' })
  expect(await askForImage('2')).toMatchObject({ kind: 'ok' })
  await registries.close()
})
