import { parseVersion, type Version } from '@catalog-bot/fbc/versions/version'
import { memoizeOnce, memoizePerObject } from '@catalog-bot/findings/memoize'
import { getJsonTextField } from '@catalog-bot/fbc/go/json/json-fields'
import { toApiKey, type OperatorEntry, type OperatorFacts, type OperatorProperty } from './operator-entry.ts'
import { parseRequirement } from './parse-requirement.ts'

/** Works for installed Operators too: OLM copies the bundle's properties to an annotation of the CSV. */
export function computeOperatorFacts(name: string, properties: readonly OperatorProperty[]): OperatorFacts {
  const of = (type: string) => properties.filter((property) => property.type === type)
  const packages = of('olm.package').map(({ value }) => {
    const version = parseVersion(getJsonTextField(value, 'version'))
    return { name: getJsonTextField(value, 'packageName'), ...(version.ok && { version: version.value }) }
  })
  return {
    name,
    properties,
    provided: of('olm.gvk').map(({ value }) => toApiKey(value)),
    packages,
    labels: of('olm.label').map(({ value }) => getJsonTextField(value, 'label')),
    isDeprecated: of('olm.deprecated').length > 0,
    requirements: memoizeOnce(() => properties.flatMap((property) => parseRequirement(property) ?? [])),
  }
}

/** OLM treats a CSV without a version as 0.0.0. */
export function createInstalledCsvEntry({
  name,
  version,
  package: packageName,
  properties,
}: {
  readonly name: string
  readonly version: string
  readonly package: string
  readonly properties: readonly OperatorProperty[]
}): OperatorEntry {
  const parsed = parseVersion(version)
  return createInstalledOperatorEntry(
    name,
    packageName,
    parsed.ok ? parsed.value : undefined,
    computeOperatorFacts(name, properties),
  )
}

/** A catalog entry after installation. OLM keeps its properties and discards its edges. */
export const toInstalledOperatorEntry = memoizePerObject(
  ({ name, package: packageName, version, facts }: OperatorEntry): OperatorEntry =>
    createInstalledOperatorEntry(name, packageName, version, facts),
)

function createInstalledOperatorEntry(
  name: string,
  packageName: string,
  version: Version | undefined,
  facts: OperatorFacts,
): OperatorEntry {
  return {
    catalog: undefined,
    package: packageName,
    channel: '',
    isDefaultChannel: false,
    name,
    replaces: '',
    skips: [],
    skipRange: undefined,
    version: version ?? { major: 0, minor: 0, patch: 0, prerelease: [], build: [] },
    facts,
  }
}
