// Resolves small catalogs like OLM v0. `compare-with-olm.ts` compares the same cases with OLM itself.
import { expect, test } from '@jest/globals'
import { createRandomResolutionProblem } from './random-problem.ts'
import { solveResolutionProblem } from './resolve-problem.ts'
import { resolverCases } from './resolver-cases.ts'
import { parseResolutionProblem } from './parse-catalog-lines.ts'

test.each(resolverCases.map((one) => [one.claim, one] as const))(
  'OLM v0: %s',
  (_, { catalog, subscriptions, gives }) => {
    const resolution = solveResolutionProblem(parseResolutionProblem(catalog, subscriptions))
    if (typeof gives !== 'string') {
      const names =
        resolution.kind === 'resolved' ? resolution.bundles.map(({ entry }) => entry.name) : resolution
      expect(Array.isArray(names) ? names.sort() : names).toEqual(gives)
    } else {
      expect(resolution.kind).toMatch(/^(?:not satisfiable|error)$/)
      expect(resolution).toHaveProperty('message', expect.stringContaining(gives))
    }
  },
)

test('the chain of constraints contains nothing that can be omitted', () => {
  const lines = ['foo/stable 1.0.0', 'foo 1.0.0 needs Red', 'foo 1.0.0 needs bar "1.x"', 'bar/stable 1.0.0']
  expect(solveResolutionProblem(parseResolutionProblem(lines, ['foo/stable']))).toMatchObject({
    kind: 'not satisfiable',
    chain: [
      'subscription sub0 exists',
      'subscription sub0 requires first/simulation/stable/foo.v1.0.0',
      'bundle foo.v1.0.0 requires an operator providing an API with group: example.com, version: v1, kind: Red',
    ],
  })
})

test('every resolution of a random problem contains each package and each provided API only once', () => {
  for (let seed = 1; seed <= 150; seed++) {
    const resolution = solveResolutionProblem(createRandomResolutionProblem(seed))
    if (resolution.kind !== 'resolved') continue
    const packages = resolution.bundles.map(({ entry }) => entry.package)
    expect(new Set(packages).size).toBe(packages.length)
    const apis = resolution.bundles.flatMap(({ entry }) => entry.facts.provided)
    expect(new Set(apis).size).toBe(apis.length)
  }
})
