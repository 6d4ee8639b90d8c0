// Upgrades of a namespace, step by step, from one catalog to the next.
import { describe, expect, test } from '@jest/globals'
import { createCatalogOperatorEntries } from '../../../src/checks/install/resolve/catalog-entries.ts'
import { UpgradeSimulation } from '../../../src/checks/install/resolve/simulate-upgrades.ts'
import { assembleCatalogFromBlobs } from './resolve-problem.ts'
import { parseCatalogBlobsFromLines } from './parse-catalog-lines.ts'

describe('upgrades', () => {
  test('continue until nothing changes anymore', () => {
    const chain = ['foo/stable 1.2.0 replaces 1.1.0', 'foo/stable 1.1.0 replaces 1.0.0', 'foo/stable 1.0.0']
    expect(simulateUpgradeFrom(chain, '1.0.0')).toMatchObject({
      hops: ['foo.v1.1.0', 'foo.v1.2.0'],
      end: { kind: 'settled', at: 'foo.v1.2.0' },
    })
  })

  test('include upgrades of their dependencies', () => {
    const lines = [
      'foo/stable 2.0.0 replaces 1.0.0',
      'foo 2.0.0 needs bar ">=2.0.0"',
      'foo/stable 1.0.0',
      'foo 1.0.0 needs bar ">=1.0.0"',
      'bar/stable 2.0.0 replaces 1.0.0',
      'bar/stable 1.0.0',
    ]
    // OLM generated bar's Subscription, so that its upgrade is part of the same step.
    const before = lines.filter((line) => !line.includes('2.0.0'))
    expect(simulateUpgradeFrom(lines, '1.0.0', before)).toMatchObject({
      end: { kind: 'settled', at: 'foo.v2.0.0' },
    })
  })

  test('stop if the only next version is skipped by another one', () => {
    const before = ['foo/stable 1.0.0']
    const now = ['foo/stable 1.2.0 skips 1.1.0', 'foo/stable 1.1.0 replaces 1.0.0']
    expect(simulateUpgradeFrom(now, '1.0.0', before)).toMatchObject({
      hops: [],
      end: { kind: 'settled', at: 'foo.v1.0.0' },
    })
  })

  test('fail if the channel does not exist anymore', () => {
    expect(
      simulateUpgradeFrom(['foo/fast 2.0.0 replaces 1.0.0'], '1.0.0', ['foo/stable 1.0.0']),
    ).toMatchObject({
      end: {
        kind: 'not satisfiable',
        chain: expect.arrayContaining([expect.stringContaining('channel stable')]),
      },
    })
  })

  test('do not exist for a head with a skipRange that includes itself', () => {
    expect(simulateUpgradeFrom(['foo/stable 1.0.0 range "<=1.0.0"'], '1.0.0')).toMatchObject({
      hops: [],
      end: { kind: 'settled', at: 'foo.v1.0.0' },
    })
  })

  test('that lead back to an earlier version are reported as a circle', () => {
    // Each version upgrades to the other one, so OLM alternates between them.
    const lines = ['foo/stable 2.0.0 replaces 1.0.0', 'foo/stable 1.0.0 range ">=2.0.0"']
    expect(simulateUpgradeFrom(lines, '1.0.0')).toMatchObject({ end: { kind: 'circle' } })
  })
})

function simulateUpgradeFrom(lines: readonly string[], from: string, before: readonly string[] = lines) {
  const installed = createUpgradeSimulation(before).install('foo', 'stable', `foo.v${from}`)
  if (installed.kind !== 'installed') throw new Error(JSON.stringify(installed))
  return createUpgradeSimulation(lines).follow(installed.state)
}

function createUpgradeSimulation(lines: readonly string[]): UpgradeSimulation {
  return new UpgradeSimulation([
    {
      entries: createCatalogOperatorEntries(
        assembleCatalogFromBlobs(parseCatalogBlobsFromLines(lines)),
        'catalog',
      ),
      priority: 0,
    },
  ])
}
