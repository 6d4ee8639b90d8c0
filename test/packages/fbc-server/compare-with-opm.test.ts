// opm's server and ours, call by call, over a catalog that says everything in an odd way. Left out where opm is missing.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { compareServing } from '../../../scripts/compare-serving.ts'
import { findMissingProgram } from '../../left-out.ts'
import { writeUnusualCatalog } from './unusual-catalog.ts'

const missingOpmProgram = findMissingProgram('opm')

test('every call has the answer that opm serve gives', async () => {
  if (missingOpmProgram !== undefined) return
  const dir = mkdtempSync(join(tmpdir(), 'compare-serving-'))
  try {
    writeUnusualCatalog(dir)
    const { calls, random, differences } = await compareServing(dir)
    expect(differences).toEqual([])
    expect({ calls, random }).toEqual({ calls: 123, random: 0 })
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
})
