// Findings of our own rules in catalogs that are published today. None of them may block, because a rule that rejects
// common practice is wrong. The warnings are listed, so that a changed rule shows its effect.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { validateCatalogWithAllRules } from '../../../src/checks/validation/validate-fully.ts'
import { findSharedPath } from '../../shared-data.ts'
import { loadCatalog } from './load-catalog.ts'

const communityCatalogsDirectory = findSharedPath('community-operators', 'catalogs')

const testIfCatalogsExist = communityCatalogsDirectory === undefined ? test.skip : test

testIfCatalogsExist(
  'published catalogs have no error, and known warnings: few, but for one of most packages, whose images are named by tag',
  () => {
    const root = communityCatalogsDirectory ?? ''
    const counts: Record<string, Record<string, number>> = {}
    for (const version of readdirSync(root).sort()) {
      const { passed, findings } = validateCatalogWithAllRules(loadCatalog(join(root, version)))
      expect([version, passed]).toEqual([version, true])
      const its: Record<string, number> = (counts[version] = {})
      for (const { rule } of findings) its[rule] = (its[rule] ?? 0) + 1
    }
    expect(counts).toEqual({
      'v4.16': { 'image-by-tag': 16 },
      'v4.20': { 'downgrade-edge': 2, 'edge-to-nowhere': 33, 'head-not-highest': 1, 'image-by-tag': 37 },
      'v4.21': {
        'downgrade-edge': 2,
        'edge-to-nowhere': 33,
        'head-not-highest': 1,
        'image-by-tag': 32,
        'oversized-bundle': 2,
      },
      'v4.22': { 'downgrade-edge': 2, 'edge-to-nowhere': 9, 'image-by-tag': 28, 'oversized-bundle': 2 },
    })
  },
)
