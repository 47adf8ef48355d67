//go:build !linux && !darwin

package admin

import "io/fs"

func ownerOf(fs.FileInfo) (uid uint32, known bool) { return 0, false }

func groupOf(fs.FileInfo) (gid int, known bool) { return 0, false }

func ownersOf(fs.FileInfo) (owner, group string) { return "unknown", "unknown" }
