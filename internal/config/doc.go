// Package config reads creditonce's one configuration file and says everything that is wrong with it in one run.
//
// Its promises:
//
//   - Every fault of a file is reported at once, each as file:line:column: path: what is wrong, what to do.
//     A file that cannot be read as YAML reports only the place where reading stopped.
//   - Nothing is guessed: unknown keys, keys written twice, further documents, anchors, wrong types and numbers
//     without a unit are faults. A key that is absent has the default that config.example.yaml shows.
//   - Parse is a pure function of the text. Load adds what lies outside the text: secret files and certificates.
//   - A secret stands in a file or a systemd credential, never in the configuration, and prints as "***".
//
// Money is kept as the text that the file holds, checked for its form only. The package imports no other package of
// the project: internal/app translates.
package config
