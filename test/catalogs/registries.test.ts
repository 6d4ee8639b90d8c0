// The registry access of the App: the time limit of one evaluation, regardless of what registries do.
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { openEvaluationRegistries } from '../../src/catalogs/registries.ts'
import { systemClock } from '../../src/adapters/system-clock.ts'
import { noopCache } from '../../src/catalogs/null-store.ts'
import { startScriptedRegistry, type ScriptedRegistry } from '../adapters/registry/scripted-registry.ts'

let registry: ScriptedRegistry
beforeEach(async () => {
  registry = await startScriptedRegistry()
})
afterEach(() => registry.close())

const openTestRegistries = (evaluationTime: number) =>
  openEvaluationRegistries({
    clock: systemClock,
    store: noopCache,
    environment: {},
    insecure: [registry.host],
    lookTime: evaluationTime,
  })

test('an evaluation ends in time with unknown answers even if a registry keeps sending 429', async () => {
  registry.script = (_, response) => void response.writeHead(429, { 'retry-after': '1' }).end()
  const registries = await openTestRegistries(300)
  const askRegistries = registries.forEvaluation()
  const started = performance.now()
  const references = Array.from({ length: 40 }, (_, index) => `${registry.host}/a/b:${index}`)
  const answers = await Promise.all([
    ...references.map((reference) => askRegistries({ kind: 'image', reference })),
    askRegistries({ kind: 'bundle', reference: `${registry.host}/a/b@sha256:${'a'.repeat(64)}` }),
  ])
  expect(performance.now() - started).toBeLessThan(3000)
  expect(new Set(answers.map(({ kind }) => kind))).toEqual(new Set(['unknown']))
  const requestCount = registry.requests.length
  expect(await askRegistries({ kind: 'image', reference: `${registry.host}/a/c:1` })).toMatchObject({
    kind: 'unknown',
    reason: expect.stringContaining('take longer than 0.3 s'),
    retryAfter: 30,
  })
  expect(registry.requests).toHaveLength(requestCount)
  await registries.close()
})

test('another evaluation has its full time', async () => {
  registry.add('a/b', '2')
  registry.script = ({ path }) => path.endsWith('/1')
  const registries = await openTestRegistries(300)
  const askForImage = (tag: string) =>
    registries.forEvaluation()({ kind: 'image', reference: `${registry.host}/a/b:${tag}` })
  expect(await askForImage('1')).toMatchObject({ kind: 'unknown' })
  expect(await askForImage('2')).toMatchObject({ kind: 'ok' })
  await registries.close()
})
