package admin

import (
	"context"
	"net/http"
	"time"

	"creditonce/internal/desk"
)

// backupTimeout bounds one backup: it writes and reads the whole store.
const backupTimeout = 30 * time.Minute

// Backup is what a backup holds, and its digest.
type Backup struct {
	Path      string         `json:"path"`
	Bytes     int64          `json:"bytes,string"`
	SHA256    string         `json:"sha256"`
	Schema    int            `json:"schema"`
	RaisedTo  int            `json:"raised_to,omitempty"` // of the private copy that was read in the file's place, where its schema is older; else 0
	Store     string         `json:"store_id"`
	Newest    time.Time      `json:"newest_record_at"`
	Mode      string         `json:"mode"`
	Claims    uint64         `json:"claims,string"`
	Events    int            `json:"events"`
	Credits   map[string]int `json:"credits"`
	OpenTasks int            `json:"open_tasks"`
}

// BackupWish asks for a backup. The service writes the file, as its own user.
type BackupWish struct {
	Path string `json:"path"` // a bare name, or a whole path in the service's backup folder
}

func (s *Server) backup(w http.ResponseWriter, r *http.Request, who desk.Actor) (any, error) {
	var wish BackupWish
	if err := readBody(w, r, &wish); err != nil {
		return nil, err
	}
	if s.cfg.Backup == nil {
		return nil, &Problem{"Not here", http.StatusNotImplemented, "no_backup", "this service makes no backups"}
	}
	_ = http.NewResponseController(w).SetWriteDeadline(s.cfg.Now().Add(backupTimeout + time.Minute)) // else the answer is cut, and the lists tell
	ctx, cancel := context.WithTimeout(r.Context(), backupTimeout)
	defer cancel()
	return s.cfg.Backup(ctx, who, wish.Path)
}

// Backup lets the service write a backup of its store to a new file of its backup folder.
func (c *Client) Backup(ctx context.Context, path string) (Backup, error) {
	patient := &Client{path: c.path, http: http.Client{Timeout: backupTimeout + 2*time.Minute, Transport: c.http.Transport}}
	return post[Backup](ctx, patient, BackupWish{path}, "/v1/backup")
}
