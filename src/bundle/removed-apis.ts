// APIs that Kubernetes removed, by its deprecation guide, as far as bundles are known to use them.

const removed: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  '1.22': {
    'apiextensions.k8s.io/v1beta1': ['CustomResourceDefinition'],
    'scheduling.k8s.io/v1alpha1': ['PriorityClass'],
    'scheduling.k8s.io/v1beta1': ['PriorityClass'],
    'rbac.authorization.k8s.io/v1alpha1': ['Role', 'ClusterRole', 'RoleBinding', 'ClusterRoleBinding'],
    'rbac.authorization.k8s.io/v1beta1': ['Role', 'ClusterRole', 'RoleBinding', 'ClusterRoleBinding'],
    'apiregistration.k8s.io/v1beta1': ['APIService'],
    'authentication.k8s.io/v1beta1': ['TokenReview'],
    'authorization.k8s.io/v1beta1': [
      'LocalSubjectAccessReview',
      'SelfSubjectAccessReview',
      'SubjectAccessReview',
    ],
    'admissionregistration.k8s.io/v1beta1': [
      'MutatingWebhookConfiguration',
      'ValidatingWebhookConfiguration',
    ],
    'coordination.k8s.io/v1beta1': ['Lease'],
    'extensions/v1beta1': ['Ingress'],
    'networking.k8s.io/v1beta1': ['Ingress', 'IngressClass'],
    'storage.k8s.io/v1beta1': ['CSIDriver', 'CSINode', 'StorageClass', 'VolumeAttachment'],
    'certificates.k8s.io/v1beta1': ['CertificateSigningRequest'],
  },
  '1.25': {
    'batch/v1beta1': ['CronJob'],
    'discovery.k8s.io/v1beta1': ['EndpointSlice'],
    'events.k8s.io/v1beta1': ['Event'],
    'autoscaling/v2beta1': ['HorizontalPodAutoscaler'],
    'policy/v1beta1': ['PodDisruptionBudget', 'PodSecurityPolicy'],
    'node.k8s.io/v1beta1': ['RuntimeClass'],
  },
  '1.26': { 'autoscaling/v2beta2': ['HorizontalPodAutoscaler'] },
}

/** The release of Kubernetes that no longer has the API; undefined for all others. */
export function removedIn(apiVersion: string, kind: string): string | undefined {
  for (const [release, versions] of Object.entries(removed))
    if (Object.hasOwn(versions, apiVersion) && versions[apiVersion]?.includes(kind)) return release
  return undefined
}
