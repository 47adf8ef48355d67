// Package recon lays three lists side by side, every day: what the provider's statements settled, what the credit rows say,
// and what the MT5 server has. Every difference becomes a task for a person (design §10).
//
// Three properties carry it, and the code is shaped by them:
//
//   - A list is complete or says that it is not. An incomplete list makes an incomplete run, never "nothing there".
//   - One pure function, [Match], decides; it streams over sorted lists and returns the same items for the same lists, whatever the order
//     in which they were gathered.
//   - Nothing here moves money. A deal that is found for a row settles the row only through the resolver's own gate.
package recon
