// A minKubeVersion that is not a version. OLM treats the requirement as never met.
import { defineRule } from '@catalog-bot/findings/rule'
import { parseVersion } from '@catalog-bot/fbc/versions/version'
import { toFindingLocation, type CatalogRuleSignature } from '../catalog-rule.ts'
import { listCsvMetadata } from '../view/csv-metadata.ts'
import { listBundlesWithPackages } from '../requirements.ts'

export const brokenMinKubeVersion = defineRule<
  { bundle: string; version: string; problem: string },
  CatalogRuleSignature
>({
  id: 'broken-min-kube-version',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'minKubeVersion is a valid version',
  format: ({ bundle, version, problem }) => ({
    what: `minKubeVersion "${version}" of ${bundle} is not a valid version: ${problem}`,
    why: 'OLM compares minKubeVersion with the cluster version before it installs the bundle. No cluster satisfies a version that OLM cannot parse.',
    fix: 'Use three numbers without a "v", such as 1.25.0.',
  }),
  *find(catalog) {
    for (const { package: its, bundle } of listBundlesWithPackages(catalog)) {
      for (const { metadata, mark } of listCsvMetadata(bundle)) {
        const text = metadata.minKubeVersion
        const version = parseVersion(text)
        if (text === '' || version.ok) continue
        yield {
          at: toFindingLocation(bundle.blob.place, mark),
          about: [its.name, bundle.blob.name],
          data: { bundle: bundle.blob.name, version: text, problem: version.error },
        }
      }
    }
  },
})
