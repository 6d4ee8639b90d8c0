// A required version range that OLM cannot parse. opm parses only skipRange.
import { defineRule } from '@catalog-bot/findings/rule'
import { parseVersionRange } from '@catalog-bot/fbc/versions/version-range'
import type { CatalogRuleSignature } from '../catalog-rule.ts'
import { listPackageRequirements } from '../requirements.ts'

export const brokenVersionRange = defineRule<
  {
    bundle: string
    required: string
    range: string
    problem: string
  },
  CatalogRuleSignature
>({
  id: 'broken-version-range',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  title: 'Required version ranges are valid',
  format: ({ bundle, required, range, problem }) => ({
    what:
      range === ''
        ? `${bundle} requires package "${required}", but does not specify a versionRange`
        : `${bundle} requires package "${required}" in the version range "${range}", which is not valid: ${problem}`,
    why: 'OLM parses the range when a user installs the Operator. Because the range is not valid, the installation fails.',
    fix: 'Use only >=, <, =, and ||, with three numbers in each version, such as ">=1.2.0 <2.0.0".',
  }),
  *find(catalog) {
    for (const { in: its, by, at, packageName, versionRange } of listPackageRequirements(catalog)) {
      const range = parseVersionRange(versionRange)
      if (range.ok) continue
      yield {
        at,
        about: [its.name, by.blob.name, packageName],
        data: { bundle: by.blob.name, required: packageName, range: versionRange, problem: range.error },
      }
    }
  },
})
