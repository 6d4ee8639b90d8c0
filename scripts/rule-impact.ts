// Who comes to harm where a rule is broken: the reason why it is an error, and blocks, unless the configuration says
// otherwise. A rule that harms no one is a warning. What opm itself rejects needs no other reason.

/** By the rule's id, for every error that is not opm's. */
export const impactByRuleId: Readonly<Record<string, string>> = {
  'api-never-there': 'Users: the API server rejects a manifest, and the install plan fails.',
  'blocking-disruption-budget': 'Cluster administrators: nodes of the Operator cannot be drained.',
  'broken-chart': 'Users: Helm cannot render the chart, so nothing is installed.',
  'broken-constraint':
    "Users: OLM cannot decode the constraint, so it resolves nothing in the Subscription's namespace.",
  'broken-crd': 'Users: the API server rejects the CRD, and the install plan fails.',
  'broken-deployment': 'Users: the install strategy fails.',
  'broken-icon': 'The catalog: OperatorHub.io rejects the bundle. Reported only if the suite is enabled.',
  'broken-object-metadata': 'Users: the API server rejects the object, and the install plan fails.',
  'broken-version-range': 'Users: OLM cannot parse the requirement, so it resolves nothing in the namespace.',
  'broken-webhook': 'Users: the webhook has no service or CRD, so the Operator fails to install.',
  'bundle-directory-name-taken':
    'Users of a package without templates: adding the bundle to an index fails or replaces a published bundle.',
  'bundle-directory-of-other-package':
    'Owners of the other package: the bundle is released in their package without their approval.',
  'bundle-directory-upgrade-loop':
    'Users: if every bundle in a channel is replaced, the channel has no head to install.',
  'bundle-edited':
    'Users: clusters have different content under the same name and never upgrade to the new content.',
  'bundle-not-its-image': 'Users: OLM installs something other than what the catalog shows and resolves.',
  'bundle-republished': 'Users: one name refers to different content in different catalogs and mirrors.',
  'change-refused': 'All users who rely on the permissions table of this repository.',
  'closes-other-pull': "The other pull request's author: GitHub closes the pull request without a decision.",
  'colliding-file-names': 'Users: OLM overwrites one of the files with the other when it unpacks the bundle.',
  'concatenated-json': 'Users: opm reads only the first object and silently drops the others.',
  'config-unreadable': 'Everyone: catalog-bot cannot apply rules that it cannot read.',
  'confusable-name': 'Users: they install a different package than they intended.',
  'default-channel-nowhere': 'Users: opm rejects the package, and no version of it is released.',
  'digest-mismatch': 'Users: the registry serves different content than was reviewed.',
  'does-not-install': 'Users: the package cannot be installed, or versions in use cannot be upgraded.',
  'dropped-text': 'Users: opm silently ignores part of what the author wrote.',
  'duplicate-crd': 'Users: OLM applies one definition over the other, in an arbitrary order.',
  'file-mode': 'All users who check out the repository: links and submodules can point outside it.',
  'foreign-bundle-format': 'Users: OLM cannot unpack the bundle.',
  'global-default-priority':
    'All workloads of a cluster: pods without a priority class get a different priority.',
  'image-missing': 'Users: clusters cannot pull the image, so the installation fails.',
  'image-unsupported': 'Users: clusters cannot pull the image.',
  'incomplete-link': 'The catalog: OperatorHub.io rejects the bundle. Reported only if the suite is enabled.',
  'incomplete-maintainer':
    'The catalog: OperatorHub.io rejects the bundle. Reported only if the suite is enabled.',
  'installed-version-stranded': 'Users: clusters with these versions silently stop getting updates.',
  'invalid-csv-name': 'Users: the API server rejects the ClusterServiceVersion.',
  'kind-not-bundled': 'Users: OLM rejects the kind, and the install plan fails.',
  'malformed-dependency': 'Users: OLM cannot resolve the dependency, or resolves a different one.',
  'malformed-reference': 'Users: no runtime can pull the image.',
  'misnamed-annotations-file': 'Users: OLM v1 rejects the bundle, and OLM v0 treats the file as a manifest.',
  'missing-bundle-annotation':
    'The catalog: opm cannot determine the package or channel, so it cannot add the bundle.',
  'missing-csv-field': 'Users: the API server rejects the ClusterServiceVersion.',
  'misspelt-annotation': 'Users: OLM ignores the annotation.',
  'misspelt-field': 'Users: opm and OLM ignore the field.',
  'misspelt-property-type': 'Users: OLM ignores the requirement or the API that the property declares.',
  'misspelt-schema': 'Users: opm keeps the blob as a custom blob, and OLM never reads it.',
  'mistyped-manifest-field': 'Users: the API server rejects the object, and the install plan fails.',
  'moved-bundle-directory': 'Users: opm and OLM do not find files in other directories.',
  'name-without-release': 'The catalog: opm rejects a bundle whose name does not contain its release.',
  'nameless-requirement':
    'Users: OLM can never satisfy the requirement, so it resolves nothing in the namespace.',
  'nested-bundle-directory': 'Users: OLM v0 fails to unpack the bundle, and opm drops the files.',
  'no-csv-version': 'The catalog: OperatorHub.io rejects the bundle. Reported only if the suite is enabled.',
  'no-deployment': 'Users: nothing is installed. Reported only if the suite is enabled.',
  'no-provider': 'The catalog: OperatorHub.io rejects the bundle. Reported only if the suite is enabled.',
  'odd-path':
    'All users who check out the repository: some systems change the path or cannot create the file.',
  'opm-release-unknown': 'All users: catalog-bot cannot determine whether opm accepts the catalog.',
  'oversized-bundle-content': 'Users: the bundle does not fit into a ConfigMap, so OLM never unpacks it.',
  'oversized-file-in-history': 'The repository: GitHub rejects every push of such a commit.',
  'owner-file-broken': 'Owners: it is unclear who can approve changes to the package.',
  'owner-unknown': 'Owners: anyone who registers the login later can approve changes to the package.',
  'package-content-mismatch': 'Owners of the other package: their package changes without their approval.',
  'platform-missing': 'Users on that platform: the image cannot run.',
  'registry-blocked': 'Bot administrators: the lookup would reach into a private network.',
  'registry-not-allowed': 'Users: images come from a registry that this repository does not allow.',
  'repeated-key': 'Users: opm reads one of the values, but reviewers might read the other.',
  'self-edge': 'Users: no version upgrades to the bundle, and its channel can lose its head.',
  'service-account-bundled': 'Users: OLM also creates the account, so two owners conflict during upgrades.',
  'several-csv-metadata': 'All users: `opm serve` rejects the catalog, although `opm validate` accepts it.',
  'several-csvs': 'Users: OLM v0 installs the first ClusterServiceVersion, and OLM v1 installs the last one.',
  'too-many-commits':
    'Owners of other packages: commits that catalog-bot cannot read would be merged without a check.',
  'undecodable-manifest': 'Users: opm silently drops the file, so the Operator lacks it.',
  'unknown-capability':
    'The catalog: OperatorHub.io rejects the bundle. Reported only if the suite is enabled.',
  'unknown-category':
    'The catalog: OperatorHub.io rejects the bundle. Reported only if the suite is enabled.',
  'unowned-crd': 'Users: OLM installs the CRD but does not detect conflicts with other Operators.',
  'unparsable-csv-version': 'The catalog: opm cannot render the bundle.',
  'unparsable-min-kube-version':
    'Users: OLM treats the requirement as never met, so the Operator remains pending.',
  'unparsable-related-image': 'All users: opm rejects the catalog, and mirrors lack the image.',
  'unreadable-bundle': 'Users: opm cannot render the bundle, and OLM cannot install it.',
  'unreadable-commit':
    'Authors of other pull requests: the message can close their pull requests and issues unnoticed.',
  'unservable-schema': 'All users: `opm serve` rejects the catalog, although `opm validate` accepts it.',
  'unserved-owned-crd': 'Users: the ClusterServiceVersion remains pending because its API is never served.',
  'unsigned-commit': 'The repository: the rules of the branch reject the push.',
  'unusable-install-modes': 'Users: no OperatorGroup matches, so the installation fails.',
  'workflow-edit-in-history':
    'The repository: an unreviewed workflow change remains in the history, and GitHub rejects the push.',
  'wrong-bundle-format': 'Users: OLM unpacks the bundle in a different format than intended.',
}
