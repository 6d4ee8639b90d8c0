// A required package that this catalog lacks. Another catalog on the cluster might have it.
import { defineRule } from '@catalog-bot/findings/rule'
import { parseVersionRange } from '@catalog-bot/fbc/versions/version-range'
import type { CatalogRuleSignature } from '../catalog-rule.ts'
import { isExternalPackage } from '../external-providers.ts'
import { listPackageRequirements } from '../requirements.ts'

export const missingRequiredPackage = defineRule<
  {
    bundle: string
    required: string
    versionRange: string
    isPresent: boolean
  },
  CatalogRuleSignature
>({
  id: 'missing-required-package',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  ofNewBundles: true,
  since: '0.1.0',
  title: 'The catalog contains the packages that its bundles require',
  format: ({ bundle, required, versionRange, isPresent }) => ({
    what: isPresent
      ? `${bundle} requires package "${required}" in ${versionRange}, but no version in the catalog is in that range`
      : `${bundle} requires package "${required}", which is not in the catalog`,
    why: 'The bundle can be installed only on clusters where another catalog offers the required package.',
    fix: `Add a matching version of "${required}" to the catalog, correct the requirement, or document which catalog has it.`,
  }),
  *find(catalog) {
    for (const { in: its, by, at, packageName, versionRange, alone } of listPackageRequirements(catalog)) {
      // Inside a constraint it may be optional; another rule covers empty names.
      if (!alone || packageName === '') continue
      const required = catalog.package(packageName)
      const isPresent = required?.blob !== undefined
      if (isPresent) {
        const range = parseVersionRange(versionRange)
        if (!range.ok || required.ladder().find(range.value) !== undefined) continue
      } else if (isExternalPackage(packageName)) continue
      yield {
        at,
        about: [its.name, by.blob.name, packageName],
        data: { bundle: by.blob.name, required: packageName, versionRange, isPresent },
      }
    }
  },
})
