import { parseVersion, type Version } from '../../../catalog/versions/version.ts'
import { once, oncePer } from '../../../findings/once.ts'
import { textField } from '../../../go/json/json-fields.ts'
import { apiKey, type OperatorEntry, type OperatorFacts, type PropertyValue } from './operator-entry.ts'
import { requirementOf } from './requirement.ts'

/** Works for installed Operators too: OLM copies the bundle's properties to an annotation of the CSV. */
export function operatorFacts(name: string, properties: readonly PropertyValue[]): OperatorFacts {
  const of = (type: string) => properties.filter((property) => property.type === type)
  const packages = of('olm.package').map(({ value }) => {
    const version = parseVersion(textField(value, 'version'))
    return { name: textField(value, 'packageName'), ...(version.ok && { version: version.value }) }
  })
  return {
    name,
    properties,
    provided: of('olm.gvk').map(({ value }) => apiKey(value)),
    packages,
    labels: of('olm.label').map(({ value }) => textField(value, 'label')),
    isDeprecated: of('olm.deprecated').length > 0,
    requirements: once(() => properties.flatMap((property) => requirementOf(property) ?? [])),
  }
}

/** OLM takes a CSV without a version for 0.0.0. */
export function installedEntry({
  name,
  version,
  package: packageName,
  properties,
}: {
  readonly name: string
  readonly version: string
  readonly package: string
  readonly properties: readonly PropertyValue[]
}): OperatorEntry {
  const parsed = parseVersion(version)
  return inNamespace(name, packageName, parsed.ok ? parsed.value : undefined, operatorFacts(name, properties))
}

/** A catalog entry after installation: OLM keeps its properties and drops its edges. */
export const asInstalled = oncePer(
  ({ name, package: packageName, version, facts }: OperatorEntry): OperatorEntry =>
    inNamespace(name, packageName, version, facts),
)

function inNamespace(
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
